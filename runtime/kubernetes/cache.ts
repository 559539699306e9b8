/** The objects of one resource as the watch last delivered them, by key and by index. */
import type { ObjectMeta } from './types';

/** `namespace/name`, or `name` for an object without a namespace. */
export function keyOf({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The names under which an index finds an object. */
export type IndexFunction<T> = (object: T, meta: ObjectMeta) => readonly string[];

export interface Entry<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;
}

interface Index<T> {
  readonly names: IndexFunction<T>;
  readonly keys: Map<string, Set<string>>;
  /** The names of the object with this key, so that it can be removed from the index. */
  readonly filed: Map<string, readonly string[]>;
}

export class ObjectCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, names]) => [name, { names, keys: new Map(), filed: new Map() }]),
    );
  }

  get size(): number {
    return this.#entries.size;
  }

  entry(key: string): Entry<T> | undefined {
    return this.#entries.get(key);
  }

  keys(): MapIterator<string> {
    return this.#entries.keys();
  }

  *objects(): Generator<T> {
    for (const { object } of this.#entries.values()) yield object;
  }

  byIndex(index: string, name: string): T[] {
    const keys = this.#indexes.get(index)?.keys.get(name);
    return keys === undefined ? [] : [...keys].map((key) => this.#entries.get(key)!.object);
  }

  set(key: string, meta: ObjectMeta, object: T): void {
    this.#unfile(key);
    this.#entries.set(key, { uid: meta.uid, resourceVersion: meta.resourceVersion, object });
    for (const { names, keys, filed } of this.#indexes.values()) {
      const found = names(object, meta);
      if (found.length === 0) continue;
      filed.set(key, found);
      for (const name of found) {
        const set = keys.get(name);
        if (set === undefined) keys.set(name, new Set([key]));
        else set.add(key);
      }
    }
  }

  delete(key: string): void {
    this.#unfile(key);
    this.#entries.delete(key);
  }

  #unfile(key: string): void {
    for (const { keys, filed } of this.#indexes.values()) {
      for (const name of filed.get(key) ?? []) {
        const set = keys.get(name);
        set?.delete(key);
        if (set?.size === 0) keys.delete(name);
      }
      filed.delete(key);
    }
  }
}
