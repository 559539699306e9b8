/**
 * The webhook's own certificates. A *pair* is a leaf for the names of the
 * Service, signed by a CA made for it alone: the CA's key is thrown away after
 * that one signature, so there is nothing to steal, and renewing means a new
 * CA. The *bundle* is every CA the apiserver should trust: while replicas
 * change over, the one before is still in it.
 */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import * as der from './der';

/** All PEM. */
export interface ServingCertificate {
  readonly key: string;
  readonly cert: string;
  /** CAs to trust, newest first. */
  readonly bundle: string;
}

export interface CertificateOptions {
  /** Names and IP addresses the webhook is called by; the first is its common name. */
  readonly names: readonly string[];
  readonly now: Date;
  /** Days until it expires; it is due for renewal after two thirds of that. @default 365 */
  readonly days?: number;
  /** CAs that clients may still meet. @default '' */
  readonly trusted?: string;
}

const DAY = 24 * 3600 * 1000;
/** Clocks of nodes differ. */
const BACKDATED = 5 * 60 * 1000;

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
};

interface Template {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Buffer[];
}

/** A new CA and a leaf signed by it. P-256: a TLS handshake costs a tenth of one with RSA 2048. */
export function makeCertificate({
  names,
  now,
  days = 365,
  trusted = '',
}: CertificateOptions): ServingCertificate {
  const validity = {
    notBefore: new Date(now.getTime() - BACKDATED),
    notAfter: new Date(now.getTime() + days * DAY),
  };
  const ca = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Every CA its own name: in a bundle of two the right one is found at once.
  const issuer = `fluxqueue webhook CA ${randomBytes(4).toString('hex')}`;
  const caCert = certificate({
    ...validity,
    subject: issuer,
    issuer,
    publicKey: ca.publicKey,
    signingKey: ca.privateKey,
    extensions: caExtensions(ca.publicKey),
  });
  const cert = certificate({
    ...validity,
    subject: commonName(names),
    issuer,
    publicKey: leaf.publicKey,
    signingKey: ca.privateKey,
    extensions: leafExtensions(names, ca.publicKey),
  });
  return {
    key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert,
    bundle: [caCert, ...validCas(trusted, now)].join(''),
  };
}

/** Two thirds of its time are over, or it is for other names, or it can't be read. */
export function isDue(
  { cert }: Pick<ServingCertificate, 'cert'>,
  names: readonly string[],
  now: Date,
): boolean {
  const parsed = parse(cert);
  if (parsed === undefined) return true;
  const [from, to] = [Date.parse(parsed.validFrom), Date.parse(parsed.validTo)];
  const covers = names.every((name) =>
    isIP(name) === 0 ? parsed.checkHost(name) !== undefined : parsed.checkIP(name) !== undefined,
  );
  return !covers || now.getTime() >= from + ((to - from) * 2) / 3;
}

/** The certificates of a PEM text that have not expired. */
export function validCas(bundle: string, now: Date): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks
    .filter((pem) => Date.parse(parse(pem)?.validTo ?? '') > now.getTime())
    .map((pem) => `${pem}\n`);
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    // Not a certificate: to the callers the same as none.
    return undefined;
  }
}

function certificate(template: Template): string {
  const algorithm = der.sequence(der.objectIdentifier(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const toBeSigned = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    algorithm,
    distinguishedName(template.issuer),
    der.sequence(der.time(template.notBefore), der.time(template.notAfter)),
    distinguishedName(template.subject),
    template.publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(3, der.sequence(...template.extensions)),
  );
  const signature = sign('sha256', toBeSigned, template.signingKey);
  const bytes = der.sequence(toBeSigned, algorithm, der.bitString(signature));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function caExtensions(publicKey: KeyObject): Buffer[] {
  const keyCertSign = der.bitString(Buffer.from([0b0000_0100]), 2);
  return [
    extension(
      OID.basicConstraints,
      der.sequence(der.boolean(true), der.integer(Buffer.from([0]))),
      'critical',
    ),
    extension(OID.keyUsage, keyCertSign, 'critical'),
    extension(OID.subjectKeyIdentifier, der.octetString(keyIdentifier(publicKey))),
  ];
}

function leafExtensions(names: readonly string[], caKey: KeyObject): Buffer[] {
  const digitalSignature = der.bitString(Buffer.from([0b1000_0000]), 7);
  return [
    extension(OID.basicConstraints, der.sequence(), 'critical'),
    extension(OID.keyUsage, digitalSignature, 'critical'),
    extension(OID.extendedKeyUsage, der.sequence(der.objectIdentifier(OID.serverAuth))),
    extension(OID.subjectAltName, der.sequence(...names.map(generalName))),
    extension(OID.authorityKeyIdentifier, der.sequence(der.tagged(0, keyIdentifier(caKey), 'primitive'))),
  ];
}

function extension(oid: string, value: Buffer, critical?: 'critical'): Buffer {
  const flag = critical === undefined ? [] : [der.boolean(true)];
  return der.sequence(der.objectIdentifier(oid), ...flag, der.octetString(value));
}

function generalName(name: string): Buffer {
  if (isIP(name) === 0) return der.tagged(2, Buffer.from(name, 'ascii'), 'primitive');
  return der.tagged(7, addressBytes(name), 'primitive');
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** A common name has at most 64 characters; clients look at the alternative names only. */
function commonName(names: readonly string[]): string {
  return (names[0] ?? 'fluxqueue webhook').slice(0, 64);
}

function distinguishedName(common: string): Buffer {
  return der.sequence(der.set(der.sequence(der.objectIdentifier(OID.commonName), der.utf8String(common))));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}
