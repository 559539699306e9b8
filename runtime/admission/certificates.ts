/**
 * The self-managed certificates of the webhook and of the stack's Postgres. A *pair* is a leaf certificate for
 * the names of the Service and its key. Each leaf has a CA of its own, whose key
 * is discarded after that one signature, so it cannot be stolen; a renewal
 * creates a new CA. The *bundle* contains every CA that the apiserver should
 * trust: during a renewal it also contains the previous one.
 */
import { KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509Library from '@peculiar/x509';

/** A certificate in PEM format. */
export interface ServingCertificate {
  readonly key: string;
  readonly cert: string;
  /** The CAs to trust, newest first. */
  readonly bundle: string;
}

export interface CertificateOptions {
  /** Host names and IP addresses of the server; the first one is the common name. */
  readonly names: readonly string[];
  readonly now: Date;
  /** Days until the certificate expires; it is due for renewal after two thirds of them. @default 365 */
  readonly days?: number;
  /** Bundle of earlier CAs that the new bundle must still contain. @default '' */
  readonly trusted?: string;
  /** The end of a connection that presents the certificate. @default 'server' */
  readonly end?: 'server' | 'client';
}

type X509 = typeof X509Library;

const DAY = 24 * 3600 * 1000;
/** A new certificate is valid from a little earlier, because the clocks of nodes differ. */
const BACKDATED = 5 * 60 * 1000;
/** A TLS handshake with P-256 costs a tenth of one with RSA 2048. */
const P256 = { name: 'ECDSA', namedCurve: 'P-256' };

/** Creates a CA and a leaf certificate that it signs. */
export async function makeCertificate(options: CertificateOptions): Promise<ServingCertificate> {
  const { names, now, days = 365, trusted = '', end = 'server' } = options;
  const x509 = await loadX509();
  const validity = {
    notBefore: new Date(now.getTime() - BACKDATED),
    notAfter: new Date(now.getTime() + days * DAY),
  };
  // The key of the CA is not exportable and exists only during this call.
  const caKeys = await webcrypto.subtle.generateKey(P256, false, ['sign', 'verify']);
  const leafKeys = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    // With distinct names, TLS clients find the right CA in a bundle of several.
    name: commonName(`fluxqueue CA ${randomBytes(4).toString('hex')}`),
    keys: caKeys,
    extensions: await caExtensions(x509, caKeys.publicKey),
  });
  const leaf = await x509.X509CertificateGenerator.create({
    ...validity,
    subject: commonName(names[0] ?? 'fluxqueue'),
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

/** Whether two thirds of the validity have passed, the names differ, or the certificate is invalid. */
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

/** The certificates of a PEM bundle that have not expired. */
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
    // Callers treat an invalid certificate as a missing one.
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

/** A common name has at most 64 characters. Clients check the subject alternative names only. */
function commonName(name: string) {
  return [{ CN: [name.slice(0, 64)] }];
}

/** Loaded only to create a certificate: the library is large, and every role starts from the same bundle. */
async function loadX509(): Promise<X509> {
  // The decorators of its classes require this polyfill to be loaded first.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}
