import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import {
  isDue,
  makeCertificate,
  type ServingCertificate,
  validCas,
} from '../../runtime/admission/certificates';

const NAMES = ['fluxqueue-webhook.fluxqueue-system.svc', '127.0.0.1', '2001:db8::7'];
const NOW = new Date('2026-05-01T12:00:00Z');
const DAY = 24 * 3600 * 1000;
const later = (days: number) => new Date(NOW.getTime() + days * DAY);

let pair: ServingCertificate;
let leaf: X509Certificate;
let ca: X509Certificate;
beforeAll(async () => {
  pair = await makeCertificate({ names: NAMES, now: NOW });
  leaf = new X509Certificate(pair.cert);
  ca = new X509Certificate(pair.bundle);
});

it('creates a leaf for the names that its own CA signed', () => {
  expect(leaf.checkHost('fluxqueue-webhook.fluxqueue-system.svc')).toBeDefined();
  expect(leaf.checkIP('127.0.0.1')).toBeDefined();
  expect(leaf.subjectAltName).toContain('IP Address:2001:DB8:0:0:0:0:0:7');
  expect(leaf.checkHost('example.com')).toBeUndefined();
  expect(leaf.ca).toBe(false);
  expect(ca.ca).toBe(true);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  expect(leaf.checkIssued(ca)).toBe(true);
});

it('creates a P-256 key for the leaf, which is valid for server authentication only', () => {
  expect(leaf.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
  expect(leaf.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  // Node returns the extended key usage as keyUsage.
  expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

it('accepts a name that is longer than a common name', async () => {
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.svc`;
  const { cert } = await makeCertificate({ names: [long], now: NOW });
  expect(new X509Certificate(cert).checkHost(long)).toBe(long);
  expect(new X509Certificate(cert).subject).toBe(`CN=${long.slice(0, 64)}`);
});

it('creates a certificate that is valid for a year, starting a little before now', () => {
  expect(Date.parse(leaf.validTo)).toBe(later(365).getTime());
  expect(Date.parse(leaf.validFrom)).toBeLessThan(NOW.getTime());
});

it('encodes years after 2049', async () => {
  const far = await makeCertificate({ names: NAMES, now: new Date('2050-02-03T04:05:06Z') });
  expect(new Date(new X509Certificate(far.cert).validTo).toISOString()).toBe('2051-02-03T04:05:06.000Z');
});

it('reports a certificate as due after two thirds of its validity, for other names, or if it is invalid', () => {
  expect(isDue(pair, NAMES, later(243))).toBe(false);
  expect(isDue(pair, NAMES, later(244))).toBe(true);
  expect(isDue(pair, [...NAMES, 'other.svc'], NOW)).toBe(true);
  expect(isDue({ cert: 'nonsense' }, NAMES, NOW)).toBe(true);
});

it('keeps the previous CA in the bundle until that CA expires', async () => {
  const renewed = await makeCertificate({ names: NAMES, now: later(250), trusted: pair.bundle });
  expect(validCas(renewed.bundle, later(250))).toEqual([
    renewed.bundle.slice(0, -pair.bundle.length),
    pair.bundle,
  ]);
  const again = await makeCertificate({ names: NAMES, now: later(500), trusted: renewed.bundle });
  expect(validCas(again.bundle, later(500))).toHaveLength(2);
  expect(again.bundle).not.toContain(pair.bundle);
});

it('skips invalid certificates in a bundle', () => {
  expect(
    validCas(`# comment\n${pair.bundle}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`, NOW),
  ).toEqual([pair.bundle]);
});

describe('over TLS', () => {
  /** Whether a client that trusts this bundle accepts this pair under this name. */
  async function accepts(
    bundle: string,
    { key, cert }: ServingCertificate,
    servername: string,
  ): Promise<boolean> {
    const server = createServer({ key, cert });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', ca: bundle, servername }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    await new Promise((resolve) => server.close(resolve));
    return accepted;
  }
  const name = 'fluxqueue-webhook.fluxqueue-system.svc';
  let first: ServingCertificate;
  let second: ServingCertificate;
  beforeAll(async () => {
    first = await makeCertificate({ names: NAMES, now: new Date() });
    second = await makeCertificate({ names: NAMES, now: new Date(), trusted: first.bundle });
  });

  it('a client accepts the certificate for its name only', async () => {
    expect(await accepts(first.bundle, first, name)).toBe(true);
    expect(await accepts(first.bundle, first, 'other.svc')).toBe(false);
  });
  it('a client with the renewed bundle accepts both certificates', async () => {
    expect(await accepts(second.bundle, first, name)).toBe(true);
    expect(await accepts(second.bundle, second, name)).toBe(true);
    expect(await accepts(first.bundle, second, name)).toBe(false);
  });
});
