/**
 * What the kubelet says in Events of a pod whose containers it does not create. The status of the pod has nothing but
 * `ContainerCreating`, whether its ConfigMap is missing or the network of its node is broken.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { isTooLarge } from '../kubernetes/errors';
import { events } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { GrantReason } from '../shared/grant-waits';
import { secondsOf } from './adapter';
import type { PodWait } from './pod-wait';

const CREATING: GrantReason = 'ContainerCreating';

/** An Event as controllers and the kubelet record it: by the older API, whose times have other names. */
interface ObjectEvent extends KubernetesObject {
  readonly reason?: string;
  readonly note?: string;
  readonly type?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
}

function lastSeen({ series, deprecatedLastTimestamp, eventTime, metadata }: ObjectEvent): number {
  return secondsOf(
    series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp,
  );
}

/** What is read of one Event. */
type Said = Pick<ObjectEvent, 'reason' | 'note'>;

/**
 * Users write Events about their objects, as many and as long as they like, and nobody can tell them from those of Kubernetes. All that
 * controllers say of one object takes a tenth of this.
 */
const MOST_BYTES = 2 ** 20;
const UNREAD = `the Events about it have more than ${MOST_BYTES} bytes, so none of them is read`;

/** The newest Event of this field selector, or that there is too much to read. @param from Unix seconds; older ones do not count @default - all count */
export async function newestEvent(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  fieldSelector: string,
  from = Number.NEGATIVE_INFINITY,
): Promise<Said | undefined> {
  const options = { fieldSelector, priority: 'low', mostBytes: MOST_BYTES } as const;
  try {
    const { items } = await client.list<ObjectEvent>(events(namespace), options);
    return items.filter((event) => lastSeen(event) >= from).sort((a, b) => lastSeen(b) - lastSeen(a))[0];
  } catch (error) {
    if (isTooLarge(error)) return { note: UNREAD };
    throw error;
  }
}

/** The wait with the newest warning about the pod, if its status says nothing. */
export async function explainedWait(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  wait: PodWait,
): Promise<PodWait> {
  if (wait.cause !== 'starting' || wait.reason !== CREATING) return wait;
  const newest = await newestEvent(client, namespace, `regarding.uid=${wait.uid},type=Warning`);
  if (newest?.note === undefined) return wait;
  return { ...wait, reason: newest.reason ?? wait.reason, message: newest.note };
}
