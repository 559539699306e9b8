/**
 * What the kubelet says in Events of a pod whose containers it does not create. The status of the pod has nothing but
 * `ContainerCreating`, whether its ConfigMap is missing or the network of its node is broken, and of an image that it tries
 * again to pull often no more than that.
 */
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { events } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { GrantReason } from '../shared/grant-waits';
import { secondsOf } from './adapter';
import { isAboutImage, type PodWait } from './pod-wait';

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
interface Said {
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
  /** When it was seen last, Unix seconds; undefined: none was read. */
  readonly at?: number;
}

/**
 * Users write Events about their objects, as many and as long as they like, and nobody can tell them from those of Kubernetes. All that
 * controllers say of one object takes a tenth of this.
 */
const MOST_BYTES = 2 ** 20;
const TOO_LARGE = 'FLUXQ_KUBERNETES_TOO_LARGE';
const UNREAD = `the Events about it have more than ${MOST_BYTES} bytes, so none of them is read`;

interface EventChoice {
  /** Unix seconds; older ones do not count. @default - all count */
  readonly from?: number;
  /** @default - all */
  readonly accepts?: (event: Said) => boolean;
}

/** The newest Event of this field selector, or that there is too much to read. */
export async function newestEvent(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  fieldSelector: string,
  { from = Number.NEGATIVE_INFINITY, accepts = () => true }: EventChoice = {},
): Promise<Said | undefined> {
  const options = { fieldSelector, priority: 'low', mostBytes: MOST_BYTES } as const;
  try {
    const { items } = await client.list<ObjectEvent>(events(namespace), options);
    return items
      .map((event) => ({ reason: event.reason, note: event.note, at: lastSeen(event) }))
      .filter((event) => event.at >= from && accepts(event))
      .sort((a, b) => b.at - a.at)[0];
  } catch (error) {
    if (error instanceof FluxqError && error.code === TOO_LARGE) return { note: UNREAD };
    throw error;
  }
}

/** All that a status says of an image, at times: the kubelet said before why. */
const BACK_OFF = /^Back-off pulling image \S+$/;
const PULL_FAILED = /^Failed to pull image /;

/** The wait with the newest warning about the pod, if its status says no cause. */
export async function explainedWait(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  wait: PodWait,
): Promise<PodWait> {
  if (wait.cause !== 'starting') return wait;
  const selector = `regarding.uid=${wait.uid},type=Warning`;
  if (isAboutImage(wait.reason)) {
    if (wait.told !== undefined && !BACK_OFF.test(wait.told)) return wait;
    const pull = await newestEvent(client, namespace, selector, {
      accepts: ({ note = '' }) => PULL_FAILED.test(note),
    });
    return pull?.note === undefined ? wait : { ...wait, told: pull.note };
  }
  if (wait.reason !== CREATING) return wait;
  const newest = await newestEvent(client, namespace, selector);
  if (newest?.note === undefined) return wait;
  return { ...wait, reason: newest.reason ?? wait.reason, message: newest.note };
}
