/** Records as JSON text that Postgres can store: it takes neither NUL nor half a surrogate pair. */

/** JSON.stringify escapes both, and nothing else that starts so; a backslash that is text comes as two. */
const ESCAPE = /\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g;
const SUSPECT = /\\u(?:0000|d[89a-f])/;

/** What users and other programs wrote stands in these records, so all of their text is looked at. */
export function storable(records: unknown): string {
  const text = JSON.stringify(records);
  return SUSPECT.test(text)
    ? text.replace(ESCAPE, (sequence, bad?: string) => (bad === undefined ? sequence : ''))
    : text;
}
