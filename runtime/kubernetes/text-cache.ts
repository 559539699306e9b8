/** Bytes. Longer texts are rarely equal. */
const LONGEST = 64;
const SLOTS = 4096;

/**
 * Texts that were read lately, by a hash of their bytes. Most texts of a pod are in the pod before it too; to compare one
 * takes half the time of making it again. A slot keeps the last text that fell into it, so all of them take at most 400 kB.
 */
export class TextCache {
  readonly #slots: string[] = new Array(SLOTS).fill('');

  /** The text of these bytes of UTF-8. */
  get(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST) return bytes.toString('utf8', start, end);
    let hash = length;
    let all = 0;
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at]!;
      hash = (Math.imul(hash, 31) + byte) | 0;
      all |= byte;
    }
    // Only in ASCII every character is one byte.
    if (all > 127) return bytes.toString('utf8', start, end);
    const slot = (hash ^ (hash >>> 12)) & (SLOTS - 1);
    const known = this.#slots[slot]!;
    if (isText(known, bytes, start, length)) return known;
    const text = bytes.toString('latin1', start, end);
    this.#slots[slot] = text;
    return text;
  }
}

function isText(text: string, bytes: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let at = 0; at < length; at += 1) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
