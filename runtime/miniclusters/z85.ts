/** Z85 (ZMQ RFC 32) encodes binary data as printable text: four bytes, big-endian, become five characters. */

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const DIGITS = new Map([...ALPHABET].map((character, digit) => [character, digit]));
const BASE = 85;

/** @param bytes the data; its length must be a multiple of four */
export function encodeZ85(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let rest = view.getUint32(at);
    let group = '';
    for (let i = 0; i < 5; i += 1) {
      group = ALPHABET.charAt(rest % BASE) + group;
      rest = Math.floor(rest / BASE);
    }
    text += group;
  }
  return text;
}

/** Returns undefined for invalid Z85, including five characters whose value exceeds four bytes. */
export function decodeZ85(text: string): Uint8Array | undefined {
  if (text.length % 5 !== 0) return undefined;
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let group = 0; group * 5 < text.length; group += 1) {
    let value = 0;
    for (const character of text.slice(group * 5, group * 5 + 5))
      value = value * BASE + (DIGITS.get(character) ?? Number.NaN);
    if (!(value <= 0xffffffff)) return undefined;
    view.setUint32(group * 4, value);
  }
  return bytes;
}
