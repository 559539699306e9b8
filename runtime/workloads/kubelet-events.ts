/**
 * What the kubelet says in Events of a pod whose containers it does not create. The status of the pod has nothing but
 * `ContainerCreating`, whether its ConfigMap is missing or the network of its node is broken, and of an image that it tries
 * again to pull often no more than that.
 */
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { isTooLarge } from '../kubernetes/errors';
import { events } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
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
    if (isTooLarge(error)) return { note: UNREAD };
    throw error;
  }
}

/** All that a status says of an image, at times: the kubelet said before why. */
const BACK_OFF = /^Back-off pulling image \S+$/;
const PULL_FAILED = /^Failed to pull image /;

/** The wait with the newest warning about the pod, if its status says no cause. @param from as of newestEvent */
export async function explainedWait(
  client: Pick<KubernetesClient, 'list'>,
  namespace: string | undefined,
  wait: PodWait,
  from?: number,
): Promise<PodWait> {
  if (wait.cause !== 'starting') return wait;
  const selector = `regarding.uid=${wait.uid},type=Warning`;
  const since = from === undefined ? {} : { from };
  if (isAboutImage(wait.reason)) {
    if (wait.told !== undefined && !BACK_OFF.test(wait.told)) return wait;
    const pull = await newestEvent(client, namespace, selector, {
      ...since,
      accepts: ({ note = '' }) => PULL_FAILED.test(note),
    });
    return pull?.note === undefined ? wait : { ...wait, told: pull.note };
  }
  if (!isUnexplained(wait)) return wait;
  const newest = await newestEvent(client, namespace, selector, since);
  if (newest?.note === undefined) return wait;
  return { ...wait, reason: newest.reason ?? wait.reason, message: newest.note };
}

/** Whether its status does not say why containers are not created. */
function isUnexplained({ cause, reason }: PodWait): boolean {
  return cause === 'starting' && reason === CREATING;
}

/** Milliseconds in which most pods start; their Events are not read. */
const PROMPT_MS = 10_000;
/** Seconds for which a warning counts: the kubelet repeats what still holds every two minutes. */
const FRESH_SECONDS = 150;

interface Uncreated {
  /** The UID of the pod. */
  readonly uid: string;
  /** Milliseconds of the clock. */
  readonly since: number;
  /** How long it had lasted when Events were read last. Milliseconds. */
  readonly readAfter: number;
  readonly explained: PodWait;
}

interface Shown {
  readonly wait: PodWait | undefined;
  /** Milliseconds until Events are read again; [] if they need not be. */
  readonly after: readonly number[];
}

interface UncreatedOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/**
 * Why containers are not created, long before that ends a grant. Events are read after ten seconds, and each time that the
 * wait has lasted twice as long: a thousand slow pulls of images cost few requests.
 */
export class UncreatedPods {
  /** By job id. */
  private readonly known = new Map<number, Uncreated>();

  constructor(private readonly options: UncreatedOptions) {}

  forget(jobid: number): void {
    this.known.delete(jobid);
  }

  /** @param wait the one that is shown of a grant */
  async explain(
    { jobid, namespace }: Pick<WorkloadRow, 'jobid' | 'namespace'>,
    wait: PodWait | undefined,
  ): Promise<Shown> {
    if (wait === undefined || !isUnexplained(wait)) {
      this.forget(jobid);
      return { wait, after: [] };
    }
    const { client, clock, now } = this.options;
    const before = this.known.get(jobid);
    const known =
      before?.uid === wait.uid
        ? before
        : { uid: wait.uid, since: clock.now(), readAfter: 0, explained: wait };
    const age = clock.now() - known.since;
    const due = Math.max(PROMPT_MS, 2 * known.readAfter);
    this.known.set(jobid, known);
    if (age < due) return { wait: known.explained, after: [due - age] };
    const explained = await explainedWait(client, namespace, wait, now() - FRESH_SECONDS);
    this.known.set(jobid, { ...known, readAfter: age, explained });
    return { wait: explained, after: [age] };
  }
}
