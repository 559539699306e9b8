/** Fields of objects by their path. */
import type { FieldPath } from '../../constructs/api/workload-kinds';

/** The value of a field; undefined if it or one above it is not set. */
export function fieldAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], value);
}

/** A copy of the value with another value in a field. What is not on the path stays the same object. */
export function withField(value: unknown, [key, ...rest]: FieldPath, set: unknown): unknown {
  if (key === undefined) return set;
  const object = (value ?? {}) as Readonly<Record<string, unknown>>;
  return { ...object, [key]: withField(object[key], rest, set) };
}
