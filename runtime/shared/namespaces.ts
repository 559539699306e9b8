/** Which namespaces have left the queue, by their labels as the watch last delivered them. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { Config } from '../config';
import type { Informer } from '../kubernetes/informer';
import type { KubernetesObject } from '../kubernetes/types';
import { Signal } from '../signal';

export type Scope = Config['namespaces'];

export class Namespaces {
  /** The namespace of this name left the queue, or came to it. */
  readonly changed = new Signal<string>();

  constructor(
    private readonly informer: Pick<Informer<KubernetesObject>, 'get' | 'changed'>,
    private readonly scope: Scope,
  ) {
    informer.changed.subscribe(({ key, now, before }) => {
      if (now === undefined) return;
      // Of one that was not known nothing was known: a late list has what left long ago.
      const wasEnabled = before === undefined || isEnabled(before, scope);
      if (isEnabled(now, scope) !== wasEnabled) this.changed.emit(key);
    });
  }

  /** Of a namespace that the watch does not show, or not yet, nothing is known. */
  hasLeft(name: string): boolean {
    const namespace = this.informer.get(name);
    return namespace !== undefined && !isEnabled(namespace, this.scope);
  }
}

/** As the selectors of admission have it (constructs/fluxqueue/admission/scope.ts). */
export function isEnabled({ metadata }: KubernetesObject, { clusterWide, excluded }: Scope): boolean {
  if (excluded.includes(metadata.name)) return false;
  const value = metadata.labels?.[NAMESPACE_LABEL];
  return clusterWide ? value !== 'false' : value === 'true';
}
