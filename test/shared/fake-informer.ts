/** An informer whose objects a test sets; each change is reported like one of a watch. */
import type { Change, Informer } from '../../runtime/kubernetes/informer';
import type { KubernetesObject, ObjectMeta } from '../../runtime/kubernetes/types';
import { Signal } from '../../runtime/signal';

export class FakeInformer<T extends KubernetesObject> {
  readonly changed = new Signal<Change<T>>();
  readonly rewritten = new Signal();
  isComplete = true;
  private readonly objects = new Map<string, T>();

  constructor(private readonly indexes: Readonly<Record<string, (object: T) => readonly string[]>> = {}) {}

  get = (key: string): T | undefined => this.objects.get(key);
  list = (): T[] => [...this.objects.values()];
  byIndex = (index: string, name: string): T[] =>
    this.list().filter((object) => this.indexes[index]!(object).includes(name));

  set(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    this.changed.emit({ key, now: object, before });
  }

  delete(key: string): void {
    const before = this.objects.get(key);
    this.objects.delete(key);
    this.changed.emit({ key, now: undefined, before });
  }

  asInformer(): Informer<T> {
    return this as unknown as Informer<T>;
  }
}

export function metadata(name: string, over: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...over,
  };
}

function keyOf({ namespace, name }: ObjectMeta): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
