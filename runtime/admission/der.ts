/** Just enough DER (ITU-T X.690) to write an X.509 certificate; Node signs and parses, but does not write them. */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
  generalizedTime: 0x18,
  utcTime: 0x17,
} as const;

export function sequence(...members: readonly Buffer[]): Buffer {
  return element(TAGS.sequence, Buffer.concat(members));
}

export function set(...members: readonly Buffer[]): Buffer {
  return element(TAGS.set, Buffer.concat(members));
}

export function boolean(value: boolean): Buffer {
  return element(TAGS.boolean, Buffer.from([value ? 0xff : 0]));
}

/** An unsigned integer, big-endian. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const minimal = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  // A leading one bit would make it negative.
  return element(TAGS.integer, minimal[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), minimal]) : minimal);
}

/** @param unusedBits in the last byte */
export function bitString(bytes: Buffer, unusedBits = 0): Buffer {
  return element(TAGS.bitString, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

export function octetString(bytes: Buffer): Buffer {
  return element(TAGS.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return element(TAGS.utf8String, Buffer.from(text, 'utf8'));
}

/** @param dotted such as `2.5.29.17` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAGS.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** To the second; UTCTime up to 2049 as RFC 5280 wants it. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? element(TAGS.utcTime, Buffer.from(digits.slice(2)))
    : element(TAGS.generalizedTime, Buffer.from(digits));
}

/** `[n]`, context-specific. */
export function tagged(
  n: number,
  content: Buffer,
  kind: 'constructed' | 'primitive' = 'constructed',
): Buffer {
  return element((kind === 'constructed' ? 0xa0 : 0x80) | n, content);
}

function element(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(size: number): number[] {
  if (size < 0x80) return [size];
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((rest % 128) | 0x80);
  return bytes;
}
