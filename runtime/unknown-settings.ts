/**
 * What a configuration has that this version does not know. It is left out, with a warning: a program that is rolled back can meet
 * the settings of a newer one, and a controller that exits for a setting it could do without stops every queue.
 */
import type { z } from 'zod';

export interface Known<T> {
  readonly result: z.ZodSafeParseResult<T>;
  /** The paths of what was left out. */
  readonly unknown: readonly string[];
}

/** Parses what a schema of strict objects knows of a value. */
export function parseKnown<T>(schema: z.ZodType<T>, given: unknown): Known<T> {
  const result = schema.safeParse(given);
  const paths = result.success ? [] : unrecognized(result.error);
  if (paths.length === 0) return { result, unknown: [] };
  const known = structuredClone(given);
  for (const path of paths) remove(known, path);
  return { result: schema.safeParse(known), unknown: paths.map((path) => path.join('.')) };
}

type Path = readonly PropertyKey[];

function unrecognized({ issues }: z.ZodError): readonly Path[] {
  return issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [],
  );
}

function remove(document: unknown, path: Path): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], document);
  delete (parent as Record<PropertyKey, unknown>)[path.at(-1)!];
}
