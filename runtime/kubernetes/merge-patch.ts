/** The merge patch (RFC 7396) between two objects. It names removed fields as null, because a merge patch keeps the others. */
export function mergePatchOf(before: object, after: object): Readonly<Record<string, unknown>> {
  const gone = Object.keys(before).filter((key) => !(key in after));
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...after };
}
