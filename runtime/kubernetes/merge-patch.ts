/** A merge patch (RFC 7396) keeps what it does not name: fields that are gone must be named as null. */
export function mergePatchOf(before: object, after: object): Readonly<Record<string, unknown>> {
  const gone = Object.keys(before).filter((key) => !(key in after));
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...after };
}
