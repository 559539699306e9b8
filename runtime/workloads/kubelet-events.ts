/**
 * What the kubelet says in Events of a pod whose containers it does not create. The status of the pod has nothing but
 * `ContainerCreating`, whether its ConfigMap is missing or the network of its node is broken.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { events } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { GrantReason } from '../shared/grant-waits';
import { secondsOf } from './adapter';
import type { PodWait } from './pod-wait';

const CREATING: GrantReason = 'ContainerCreating';

/** An Event as controllers and the kubelet record it: by the older API, whose times have other names. */
export interface ObjectEvent extends KubernetesObject {
  readonly reason?: string;
  readonly note?: string;
  readonly type?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
}

export function lastSeen({ series, deprecatedLastTimestamp, eventTime, metadata }: ObjectEvent): number {
  return secondsOf(
    series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp,
  );
}

/** The wait with the newest warning about the pod, if its status says nothing. */
export async function explainedWait(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  wait: PodWait,
): Promise<PodWait> {
  if (wait.cause !== 'starting' || wait.reason !== CREATING) return wait;
  const { items } = await client.list<ObjectEvent>(events(namespace), {
    fieldSelector: `regarding.uid=${wait.uid},type=Warning`,
    priority: 'low',
  });
  const [newest] = [...items].sort((a, b) => lastSeen(b) - lastSeen(a));
  if (newest?.note === undefined) return wait;
  return { ...wait, reason: newest.reason ?? wait.reason, message: newest.note };
}
