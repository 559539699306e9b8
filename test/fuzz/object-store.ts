/** The storage of a simulated apiserver: objects by resource, with versions and a log of changes for watches. */
import { createHash } from 'node:crypto';
import { keyOf } from '../../runtime/kubernetes/cache';
import type { KubernetesObject, ObjectMeta } from '../../runtime/kubernetes/types';

export interface Change {
  readonly version: number;
  readonly resource: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
}

/** The changes of one resource, in the order of their versions. */
interface ChangeLog {
  changes: Change[];
  /** Changes up to this version are not kept any more. */
  oldestVersion: number;
}

/** Number of changes of a resource that are kept; a watch from an older version must list again. */
const MAX_CHANGES = 2_000;

/** Objects are immutable: a change stores a new object. */
export class ObjectStore {
  private version = 1;
  private readonly logs = new Map<string, ChangeLog>();
  private readonly objects = new Map<string, Map<string, KubernetesObject>>();
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly hash = createHash('sha256');

  /** @param now Unix seconds, for creation times */
  constructor(private readonly now: () => number) {}

  get latest(): number {
    return this.version;
  }

  /** Of all changes so far: two runs with the same one were the same run. */
  get digest(): string {
    return this.hash.copy().digest('hex').slice(0, 16);
  }

  get<T extends KubernetesObject>(resource: string, key: string): T | undefined {
    return this.objects.get(resource)?.get(key) as T | undefined;
  }

  list<T extends KubernetesObject>(resource: string): readonly T[] {
    return [...(this.objects.get(resource)?.values() ?? [])] as unknown as T[];
  }

  /** Creates an object with the metadata that the apiserver sets. */
  create<T extends KubernetesObject>(resource: string, object: object): T {
    const given = object as { metadata: Partial<ObjectMeta> & { name: string } };
    const metadata: ObjectMeta = {
      ...given.metadata,
      uid: `uid-${this.version}`,
      generation: 1,
      creationTimestamp: timeOf(this.now()),
      resourceVersion: '',
    };
    return this.store('ADDED', resource, { ...given, metadata }) as T;
  }

  /** Replaces the object of this name; a changed spec increments the generation. */
  put<T extends KubernetesObject>(resource: string, object: T): T {
    const before = this.get<T>(resource, keyOf(object.metadata));
    if (before === undefined || before === object) return object;
    const [was, is] = [specOf(before), specOf(object)];
    const edited = was !== is && JSON.stringify(was) !== JSON.stringify(is);
    const generation = (before.metadata.generation ?? 1) + (edited ? 1 : 0);
    return this.store('MODIFIED', resource, {
      ...object,
      metadata: { ...object.metadata, generation },
    }) as T;
  }

  remove(resource: string, key: string): void {
    const object = this.get(resource, key);
    if (object !== undefined) this.store('DELETED', resource, object);
  }

  /** @returns undefined when the version is too old */
  since(resource: string, version: number): readonly Change[] | undefined {
    const { changes, oldestVersion } = this.logOf(resource);
    if (version < oldestVersion) return undefined;
    const known = changes.findLastIndex((change) => change.version <= version);
    return changes.slice(known + 1);
  }

  onChange(resource: string, listener: () => void): () => void {
    const listeners = this.listeners.get(resource) ?? new Set();
    this.listeners.set(resource, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  private logOf(resource: string): ChangeLog {
    const log = this.logs.get(resource) ?? { changes: [], oldestVersion: 0 };
    this.logs.set(resource, log);
    return log;
  }

  private store(type: Change['type'], resource: string, object: KubernetesObject): KubernetesObject {
    this.version += 1;
    const stored = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.version) },
    };
    const key = keyOf(object.metadata);
    const all = this.objects.get(resource) ?? new Map<string, KubernetesObject>();
    this.objects.set(resource, all);
    if (type === 'DELETED') all.delete(key);
    else all.set(key, stored);
    // The names and times of Events are of the machine.
    if (resource !== 'events') this.hash.update(JSON.stringify([type, resource, stored]));
    const log = this.logOf(resource);
    log.changes.push({ version: this.version, resource, type, object: stored });
    if (log.changes.length > 2 * MAX_CHANGES) {
      log.oldestVersion = log.changes.at(-MAX_CHANGES - 1)!.version;
      log.changes = log.changes.slice(-MAX_CHANGES);
    }
    for (const listener of this.listeners.get(resource) ?? []) listener();
    return stored;
  }
}

/** Formats a time as Kubernetes does, in whole seconds. */
export function timeOf(seconds: number): string {
  return new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

function specOf(object: KubernetesObject): unknown {
  return (object as { spec?: unknown }).spec;
}
