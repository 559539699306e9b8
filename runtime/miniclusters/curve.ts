/**
 * The CURVE certificate that all brokers of one MiniCluster share. Whoever has
 * it is a broker of that cluster, so its text is never part of an error, a log
 * line or anything but a Secret.
 *
 * It is made as `flux keygen` makes it, and a user's own is read as strictly as
 * flux-broker reads it (flux-core, libzmqutil/cert.c): what passes here boots.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { FluxqError } from '../errors';
import { decodeZ85, encodeZ85 } from './z85';

export interface CertificateMetadata {
  /** What brokers call it in their logs. */
  readonly name: string;
  /** Where it was made. */
  readonly hostname: string;
  readonly madeAt: Date;
}

/** A new certificate, as text. Letters that the broker would refuse in a value become "-". */
export function makeCertificate({ name, hostname, madeAt }: CertificateMetadata): string {
  const { privateKey } = generateKeyPairSync('x25519');
  const metadata = {
    name,
    'keygen.hostname': hostname,
    'keygen.time': madeAt.toISOString().slice(0, 19),
  };
  const entry = ([key, value]: readonly [string, string]) =>
    `    ${key} = "${value.replace(/[^A-Za-z0-9.: \t-]/g, '-')}"\n`;
  return [
    '#  ZeroMQ CURVE **Secret** Certificate\n#  DO NOT DISTRIBUTE\n\nmetadata\n',
    ...Object.entries(metadata).map(entry),
    'curve\n',
    `    public-key = "${encodeZ85(rawKey(privateKey, 'x'))}"\n`,
    `    secret-key = "${encodeZ85(rawKey(privateKey, 'd'))}"\n`,
  ].join('');
}

/** @throws FluxqError FLUXQ_CURVE_INVALID, which says the line and the rule but nothing of what stands there */
export function checkCertificate(text: string, field: string): void {
  const problem = certificateProblem(text);
  if (problem === undefined) return;
  throw new FluxqError('FLUXQ_CURVE_INVALID', problem, {
    field,
    remedy: 'give the text that "flux keygen" wrote, unchanged, or none at all: one is made then',
  });
}

type Section = 'metadata' | 'curve';

interface Reading {
  section: Section | undefined;
  readonly metadata: Set<string>;
  readonly keys: Map<string, Uint8Array>;
}

/** The broker's line buffer: what is longer is read as two lines. */
const LONGEST_LINE = 254;
const KEY_BYTES = 32;
const KEY = /^[A-Za-z0-9.-]+$/;
const VALUE = /^[A-Za-z0-9.\-:+=^!/*?&<>()[\]{}@%$# \t]*$/;
const KEY_NAMES: ReadonlySet<string> = new Set(['public-key', 'secret-key']);

/** The line and the rule, but nothing of what stands there; undefined: a broker takes it. */
export function certificateProblem(text: string): string | undefined {
  const reading: Reading = { section: undefined, metadata: new Set(), keys: new Map() };
  for (const [i, line] of text.split('\n').entries()) {
    const problem = readLine(reading, line);
    if (problem !== undefined) return `line ${i + 1} ${problem}`;
  }
  for (const name of KEY_NAMES) if (!reading.keys.has(name)) return `has no ${name}`;
  const derived = publicKeyOf(reading.keys.get('secret-key')!);
  if (derived.equals(reading.keys.get('public-key')!)) return undefined;
  return 'its public-key is not the one of its secret-key';
}

function readLine(reading: Reading, line: string): string | undefined {
  if (Buffer.byteLength(line) > LONGEST_LINE) return `is longer than ${LONGEST_LINE} bytes`;
  const stripped = line.trim();
  if (stripped === '' || stripped.startsWith('#')) return undefined;
  if (line.startsWith(' ') || line.startsWith('\t')) return readEntry(reading, stripped);
  if (stripped !== 'metadata' && stripped !== 'curve')
    return 'is neither a section (metadata, curve) nor an indented entry';
  reading.section = stripped;
  return undefined;
}

function readEntry({ section, metadata, keys }: Reading, entry: string): string | undefined {
  if (section === undefined) return 'is an entry before the first section';
  const at = entry.indexOf('=');
  const key = entry.slice(0, Math.max(at, 0)).trim();
  if (!KEY.test(key)) return 'is not KEY = "VALUE" with a key of letters, digits, "." and "-"';
  const value = /^"(.*)"$/s.exec(entry.slice(at + 1).trim())?.[1];
  if (value === undefined) return 'has a value that is not in double quotes';
  if (!VALUE.test(value)) return 'has a character in its value that the broker refuses (such as "_" or ",")';
  return section === 'curve' ? readKey(keys, key, value) : readMetadata(metadata, key);
}

function readMetadata(metadata: Set<string>, key: string): string | undefined {
  if (metadata.has(key)) return 'gives a key of the metadata a second time';
  metadata.add(key);
  return undefined;
}

function readKey(keys: Map<string, Uint8Array>, key: string, value: string): string | undefined {
  if (!KEY_NAMES.has(key)) return 'is neither public-key nor secret-key, all that may stand under curve';
  const bytes = decodeZ85(value);
  if (bytes?.length !== KEY_BYTES) return 'has a key that is not 40 characters of Z85';
  keys.set(key, bytes);
  return undefined;
}

/** PKCS#8 of an X25519 key is this and its 32 bytes. */
const PKCS8_X25519 = Buffer.from('302e020100300506032b656e04220420', 'hex');

function publicKeyOf(secret: Uint8Array): Buffer {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_X25519, secret]),
    format: 'der',
    type: 'pkcs8',
  });
  return rawKey(createPublicKey(key), 'x');
}

function rawKey(key: KeyObject, part: 'x' | 'd'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part]!, 'base64url');
}
