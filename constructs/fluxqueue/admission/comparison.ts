/** CEL that compares an object with what it was before. */
import { celList } from './scope';

/** CEL: two maps are equal except for these keys. */
export function sameExcept(map: string, other: string, keys: readonly string[]): string {
  const list = celList(keys);
  const within = (a: string, b: string) =>
    `${a}.all(key, key in ${list} || (key in ${b} && ${a}[key] == ${b}[key]))`;
  return `${within(map, other)} && ${other}.all(key, key in ${list} || key in ${map})`;
}

/** CEL: an update changes none of these fields of the metadata. */
export function sameMetadata(...fields: readonly string[]): string {
  return fields.map((field) => `object.metadata.?${field} == oldObject.metadata.?${field}`).join(' && ');
}
