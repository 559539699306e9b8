/**
 * The text of a JSON patch. The apiserver compares the value of a `test` operation with the object as Go writes it, byte by byte, and
 * Go escapes what could end a script in HTML: `&` and `\u0026` would be different values
 * (https://pkg.go.dev/encoding/json#Marshal, https://github.com/evanphx/json-patch).
 */
export function patchText(operations: object): string {
  return JSON.stringify(operations).replace(/[<>&\u2028\u2029]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
