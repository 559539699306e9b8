/** Escapes a key as one token of a JSON pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The key of one token of a JSON pointer. */
export function keyOfToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
