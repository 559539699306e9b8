import { ENCODED_BYTES } from './protobuf';

/** Characters of JSON beside the texts themselves: the quotes of a text; those of a key with its colon and comma. */
const QUOTES = 2;
const PUNCTUATION = 4;

/** Characters of JSON, or bytes of protobuf. Ordinary Jobs have some thousand. */
const LARGE = 100_000;

/** Whether an object is so large that each write of it takes the apiserver much of its processor. */
export function isLarge(object: object): boolean {
  const { [ENCODED_BYTES]: bytes } = object as { readonly [ENCODED_BYTES]?: number };
  return bytes === undefined ? isLargerThan(object, LARGE) : bytes > LARGE;
}

/** Whether the JSON of an object has more than about this many characters. It counts no further than that. */
export function isLargerThan(object: unknown, most: number): boolean {
  const open: unknown[] = [object];
  for (let size = 0; open.length > 0; ) {
    const value = open.pop();
    size += ownSize(value);
    if (size > most) return true;
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) open.push(part);
  }
  return false;
}

/** The characters without those of its parts. */
function ownSize(value: unknown): number {
  if (typeof value === 'string') return value.length + QUOTES;
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return value.length + QUOTES;
  return Object.keys(value).reduce((size, key) => size + key.length + PUNCTUATION, QUOTES);
}
