/**
 * The webhook's own certificates. A *pair* is a leaf for the names of the
 * Service, signed by a CA made for it alone: the CA's key is thrown away after
 * that one signature, so there is nothing to steal, and renewing means a new
 * CA. The *bundle* is every CA the apiserver should trust: while replicas
 * change over, the one before is still in it.
 */
import { KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509Library from '@peculiar/x509';

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
  /** The end of a connection that shows it. @default 'server' */
  readonly end?: 'server' | 'client';
}

type X509 = typeof X509Library;

const DAY = 24 * 3600 * 1000;
/** Clocks of nodes differ. */
const BACKDATED = 5 * 60 * 1000;
/** A TLS handshake costs a tenth of one with RSA 2048. */
const P256 = { name: 'ECDSA', namedCurve: 'P-256' };

/** A new CA and a leaf signed by it. */
export async function makeCertificate(options: CertificateOptions): Promise<ServingCertificate> {
  const { names, now, days = 365, trusted = '', end = 'server' } = options;
  const x509 = await loadX509();
  const validity = {
    notBefore: new Date(now.getTime() - BACKDATED),
    notAfter: new Date(now.getTime() + days * DAY),
  };
  // The CA's key can't be exported, and is forgotten with this call.
  const caKeys = await webcrypto.subtle.generateKey(P256, false, ['sign', 'verify']);
  const leafKeys = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    // Every CA its own name: in a bundle of two the right one is found at once.
    name: commonName(`fluxqueue webhook CA ${randomBytes(4).toString('hex')}`),
    keys: caKeys,
    extensions: await caExtensions(x509, caKeys.publicKey),
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    subject: commonName(names[0] ?? 'fluxqueue webhook'),
    issuer: ca.subjectName,
    publicKey: leafKeys.publicKey,
    signingKey: caKeys.privateKey,
    extensions: await leafExtensions(x509, names, end, caKeys.publicKey),
  });
  return {
    key: KeyObject.from(leafKeys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `${leaf.toString('pem')}\n`,
    bundle: [`${ca.toString('pem')}\n`, ...validCas(trusted, now)].join(''),
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

async function caExtensions(x509: X509, key: webcrypto.CryptoKey) {
  return [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    await x509.SubjectKeyIdentifierExtension.create(key),
  ];
}

async function leafExtensions(
  x509: X509,
  names: readonly string[],
  end: 'server' | 'client',
  caKey: webcrypto.CryptoKey,
) {
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[`${end}Auth`]]),
    new x509.SubjectAlternativeNameExtension(
      names.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
    ),
    await x509.AuthorityKeyIdentifierExtension.create(caKey),
  ];
}

/** A common name has at most 64 characters; clients look at the alternative names only. */
function commonName(name: string) {
  return [{ CN: [name.slice(0, 64)] }];
}

/** Only when a certificate is made: every role starts from the same file, and this is large. */
async function loadX509(): Promise<X509> {
  // Its classes are decorated, which needs this to be there first.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
