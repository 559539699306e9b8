/**
 * The CURVE certificate that all brokers of one MiniCluster share. Anyone who
 * has it can join that cluster as a broker, so its text is never part of an
 * error, a log line or any object except a Secret.
 *
 * New certificates have the format of `flux keygen`. A user's certificate is
 * parsed as strictly as flux-broker parses it (flux-core, libzmqutil/cert.c),
 * so that every certificate that is accepted here also works in a broker.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { FluxqError } from '../errors';
import { decodeZ85, encodeZ85 } from './z85';

export interface CertificateMetadata {
  /** Name of the certificate in the logs of brokers. */
  readonly name: string;
  /** Host that created the certificate. */
  readonly hostname: string;
  readonly madeAt: Date;
}

/** Creates a certificate. Characters that a broker rejects in a value are replaced by "-". */
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

/** @throws FluxqError FLUXQ_CURVE_INVALID, which has the line number and the rule, but never the content of the line */
export function checkCertificate(text: string, field: string): void {
  const problem = certificateProblem(text);
  if (problem === undefined) return;
  throw new FluxqError('FLUXQ_CURVE_INVALID', problem, {
    field,
    remedy: 'set it to the unchanged output of "flux keygen", or omit it to have a certificate generated',
  });
}

type Section = 'metadata' | 'curve';

interface ParserState {
  section: Section | undefined;
  readonly metadata: Set<string>;
  readonly keys: Map<string, Uint8Array>;
}

/** The size of the broker's line buffer; it reads a longer line as two lines. */
const MAX_LINE_BYTES = 254;
const KEY_BYTES = 32;
const KEY = /^[A-Za-z0-9.-]+$/;
const VALUE = /^[A-Za-z0-9.\-:+=^!/*?&<>()[\]{}@%$# \t]*$/;
const KEY_NAMES: ReadonlySet<string> = new Set(['public-key', 'secret-key']);

/** The line number and the violated rule, without the content of the line; undefined for a valid certificate. */
export function certificateProblem(text: string): string | undefined {
  const state: ParserState = { section: undefined, metadata: new Set(), keys: new Map() };
  for (const [i, line] of text.split('\n').entries()) {
    const problem = parseLine(state, line);
    if (problem !== undefined) return `line ${i + 1} ${problem}`;
  }
  for (const name of KEY_NAMES) if (!state.keys.has(name)) return `has no ${name}`;
  const derived = publicKeyOf(state.keys.get('secret-key')!);
  if (derived.equals(state.keys.get('public-key')!)) return undefined;
  return 'its public-key and its secret-key do not belong together';
}

function parseLine(state: ParserState, line: string): string | undefined {
  if (Buffer.byteLength(line) > MAX_LINE_BYTES) return `is longer than ${MAX_LINE_BYTES} bytes`;
  const stripped = line.trim();
  if (stripped === '' || stripped.startsWith('#')) return undefined;
  if (line.startsWith(' ') || line.startsWith('\t')) return parseEntry(state, stripped);
  if (stripped !== 'metadata' && stripped !== 'curve')
    return 'must be a section (metadata, curve) or an indented entry';
  state.section = stripped;
  return undefined;
}

function parseEntry({ section, metadata, keys }: ParserState, entry: string): string | undefined {
  if (section === undefined) return 'has an entry before the first section';
  const at = entry.indexOf('=');
  const key = entry.slice(0, Math.max(at, 0)).trim();
  if (!KEY.test(key))
    return 'must have the form KEY = "VALUE", where KEY has letters, digits, "." and "-" only';
  const value = /^"(.*)"$/s.exec(entry.slice(at + 1).trim())?.[1];
  if (value === undefined) return 'must have its value in double quotes';
  if (!VALUE.test(value))
    return 'has a character in its value that brokers do not accept (for example "_" or ",")';
  return section === 'curve' ? parseKey(keys, key, value) : parseMetadata(metadata, key);
}

function parseMetadata(metadata: Set<string>, key: string): string | undefined {
  if (metadata.has(key)) return 'repeats a metadata key';
  metadata.add(key);
  return undefined;
}

function parseKey(keys: Map<string, Uint8Array>, key: string, value: string): string | undefined {
  if (!KEY_NAMES.has(key)) return 'must be public-key or secret-key, the only entries of section curve';
  const bytes = decodeZ85(value);
  if (bytes?.length !== KEY_BYTES) return 'must have a key of 40 Z85 characters';
  keys.set(key, bytes);
  return undefined;
}

/** The PKCS#8 form of an X25519 key is this prefix, followed by the 32 bytes of the key. */
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
