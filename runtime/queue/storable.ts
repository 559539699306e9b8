/** Records as JSON that Postgres can store: it accepts neither NUL nor half a surrogate pair. */

/** JSON.stringify escapes both, and nothing else that begins like them; a backslash in text becomes two. */
const ESCAPE = /\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g;
const SUSPECT = /\\u(?:0000|d[89a-f])/;

/** The records contain text of users and other programs, so all of it is checked. */
export function storable(records: unknown): string {
  const text = JSON.stringify(records);
  return SUSPECT.test(text)
    ? text.replace(ESCAPE, (sequence, bad?: string) => (bad === undefined ? sequence : ''))
    : text;
}
