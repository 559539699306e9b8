/** RFC 6902 and RFC 7396 patches, which return a changed copy of the object. */

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** A deep copy as after a transfer in JSON. Under Jest, objects from structuredClone are of another realm, so toEqual fails. */
export function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

type Container = Record<string, unknown> | unknown[];

/** @returns undefined when a test operation fails or a path does not exist */
export function applyJsonPatch<T extends object>(object: T, patch: readonly Operation[]): T | undefined {
  const result = copyOf(object);
  for (const operation of patch) if (!apply(result as Container, operation)) return undefined;
  return result;
}

function apply(root: Container, { op, path, value }: Operation): boolean {
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = keys.pop()!;
  let parent: unknown = root;
  for (const key of keys) parent = isContainer(parent) ? (parent as Record<string, unknown>)[key] : undefined;
  if (!isContainer(parent)) return false;
  const found = (parent as Record<string, unknown>)[last];
  if (op === 'test') return JSON.stringify(found ?? null) === JSON.stringify(value);
  if (op !== 'add' && found === undefined) return false;
  change(parent, last, op, value);
  return true;
}

function change(parent: Container, key: string, op: Operation['op'], value: unknown): void {
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : Number(key);
    parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  } else if (op === 'remove') delete parent[key];
  else parent[key] = value;
}

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

function isContainer(value: unknown): value is Container {
  return value !== null && typeof value === 'object';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
