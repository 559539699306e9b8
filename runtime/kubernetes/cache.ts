/** The objects of one resource as the watch last delivered them, by key and by index. */
import type { ObjectMeta } from './types';
import { isBefore } from './versions';

/** `namespace/name`, or `name` for an object without a namespace. */
export function keyOf({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  // In one piece: a text that is put together with `+` keeps its parts in memory, and this one is kept.
  return namespace === undefined ? name : [namespace, name].join('/');
}

/** The names under which an index finds an object. They depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

export interface Entry<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;
}

interface Index<T> {
  readonly names: IndexFunction<T>;
  /** The key of the object with this name, or the keys of several: most names of pods have one. */
  readonly keys: Map<string, string | Set<string>>;
}

export class ObjectCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, names]) => [name, { names, keys: new Map() }]),
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

  /** The object of the highest version, which takes a look at all. */
  newest(): (Pick<Entry<T>, 'uid' | 'resourceVersion'> & { readonly key: string }) | undefined {
    let found: (Entry<T> & { readonly key: string }) | undefined;
    for (const [key, entry] of this.#entries)
      if (found === undefined || isBefore(found.resourceVersion, entry.resourceVersion))
        found = { ...entry, key };
    return found;
  }

  byIndex(index: string, name: string): T[] {
    const keys = this.#indexes.get(index)?.keys.get(name);
    if (keys === undefined) return [];
    if (typeof keys === 'string') return [this.#entries.get(keys)!.object];
    return [...keys].map((key) => this.#entries.get(key)!.object);
  }

  /** An object for which an index function throws changes nothing. */
  set(key: string, { uid, resourceVersion }: ObjectMeta, object: T): void {
    const named = [...this.#indexes.values()].map(({ names, keys }) => ({ keys, names: names(object) }));
    this.#unfile(key);
    this.#entries.set(key, { uid, resourceVersion, object });
    for (const { keys, names } of named) for (const name of names) file(keys, name, key);
  }

  delete(key: string): void {
    this.#unfile(key);
    this.#entries.delete(key);
  }

  /** The names are asked for again: to keep them would cost each pod as much memory as its labels. */
  #unfile(key: string): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    for (const { names, keys } of this.#indexes.values())
      for (const name of names(known.object)) unfile(keys, name, key);
  }
}

function file(keys: Index<unknown>['keys'], name: string, key: string): void {
  const known = keys.get(name);
  if (known === undefined) keys.set(name, key);
  else if (typeof known !== 'string') known.add(key);
  else if (known !== key) keys.set(name, new Set([known, key]));
}

function unfile(keys: Index<unknown>['keys'], name: string, key: string): void {
  const known = keys.get(name);
  if (known === key) keys.delete(name);
  if (known === undefined || typeof known === 'string') return;
  known.delete(key);
  if (known.size === 0) keys.delete(name);
}
