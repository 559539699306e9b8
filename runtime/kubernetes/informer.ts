/** One watch of a resource that several areas share: each of them subscribes to its changes. */
import { Signal } from '../signal';
import { Reflector, type ReflectorOptions } from './reflector';
import type { KubernetesObject } from './types';

export interface Change<T> {
  readonly key: string;
  /** Undefined: the object was deleted. */
  readonly now: T | undefined;
  /** Undefined: the object is new. */
  readonly before: T | undefined;
  /** The object is gone, and a list says so: its last changes may not have been reported. */
  readonly isMissed?: boolean;
}

export class Informer<K extends KubernetesObject, T = K> extends Reflector<K, T> {
  readonly changed: Signal<Change<T>>;
  /** What is not there was perhaps never reported as deleted: everything was listed again, or for the first time, late. */
  readonly rewritten: Signal;

  constructor(options: Omit<ReflectorOptions<K, T>, 'onChange' | 'onRewritten'>) {
    const changed = new Signal<Change<T>>();
    const rewritten = new Signal();
    super({
      ...options,
      onChange: (key, now, before, isMissed) => changed.emit({ key, now, before, isMissed }),
      onRewritten: () => rewritten.emit(),
    });
    this.changed = changed;
    this.rewritten = rewritten;
  }

  /** Reports every object that is known already as new, to those who subscribed after it was reported. */
  replay(): void {
    for (const key of this.keys()) this.changed.emit({ key, now: this.get(key), before: undefined });
  }
}
