/** What the labels of namespaces say of their workloads, as the watch last delivered them. */
import { NAMESPACE_LABEL, QUEUE } from '../../constructs/api/labels';
import type { Config } from '../config';
import type { Informer } from '../kubernetes/informer';
import type { KubernetesObject } from '../kubernetes/types';
import { Signal } from '../signal';

export type Scope = Config['namespaces'];

export class Namespaces {
  /** The namespace of this name left the queue or came to it, has another queue, or is the awaited one. */
  readonly changed = new Signal<string>();

  private readonly awaited = new Set<string>();

  constructor(
    private readonly informer: Pick<Informer<KubernetesObject>, 'get' | 'changed' | 'isComplete'>,
    private readonly scope: Scope,
  ) {
    informer.changed.subscribe(({ key, now, before }) => {
      if (now === undefined) return;
      const wasAwaited = this.awaited.delete(key);
      // Of one that was not known nothing was known: a late list has what left long ago.
      const wasEnabled = before === undefined || isEnabled(before, scope);
      const isOther = isEnabled(now, scope) !== wasEnabled || queueOf(now) !== (before && queueOf(before));
      if (wasAwaited || isOther) this.changed.emit(key);
    });
  }

  /** Whether its labels are not known yet, because the watch of namespaces is behind that of workloads: then `changed` follows. */
  isAwaited(name: string): boolean {
    const isAwaited = this.informer.isComplete && this.informer.get(name) === undefined;
    if (isAwaited) this.awaited.add(name);
    return isAwaited;
  }

  /** Admission never reserved the labels of the queue there: what carries them was not granted by it. */
  isExcluded(name: string): boolean {
    return this.scope.excluded.includes(name);
  }

  /** The queue of its workloads that name none; undefined: the namespace names none either. */
  queueOf(name: string): string | undefined {
    const namespace = this.informer.get(name);
    return namespace && queueOf(namespace);
  }

  /** Of a namespace that the watch does not show, or not yet, nothing is known. */
  hasLeft(name: string): boolean {
    const namespace = this.informer.get(name);
    return namespace !== undefined && !isEnabled(namespace, this.scope);
  }
}

function queueOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.labels?.[QUEUE];
}

/** As the selectors of admission have it (constructs/fluxqueue/admission/scope.ts). */
export function isEnabled({ metadata }: KubernetesObject, { clusterWide, excluded }: Scope): boolean {
  if (excluded.includes(metadata.name)) return false;
  const value = metadata.labels?.[NAMESPACE_LABEL];
  return clusterWide ? value !== 'false' : value === 'true';
}
