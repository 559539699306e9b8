/** Checks that grants keep to what administrators allow: quotas, nodes that take no pods, and preemption by consent. */
import type { AllocatedNode } from '../../runtime/resources/types';
import type { LoggedEvent, SeenRow, Violation } from './observation';

/** The part of a quota that does not depend on the sizes of units. Absent: not limited. */
export interface CountedQuota {
  readonly jobs?: number;
  readonly nodes?: number;
}

const KEYS = ['jobs', 'nodes'] as const;

type Counts = Required<CountedQuota>;

/** Seconds from a change by an administrator to the last commit that is based on the state before it. */
const LAG_SECONDS = 5;

/** Checks that no queue takes more than its quota. What it holds when its quota becomes smaller may stay. */
export class QuotaObserver {
  /** What each queue held lawfully at last. */
  private readonly lawful = new Map<string, Counts>();
  private readonly quotas = new Map<string, CountedQuota | undefined>();
  private readonly changedAt = new Map<string, number>();

  /**
   * @param at seconds
   * @param quotaOf the quota of a queue: the same object until it changes
   * @param isRecovering whether a fault may keep changes of quotas from the controller
   */
  observe(
    at: number,
    rows: readonly Pick<SeenRow, 'queue' | 'phase' | 'allocation'>[],
    quotaOf: (queue: string) => CountedQuota | undefined,
    isRecovering: boolean,
  ): Violation[] {
    const granted = rows.filter(({ phase }) => phase === 'Ready' || phase === 'Running');
    const rowsOf = Map.groupBy(granted, ({ queue }) => queue);
    const queues = new Set([...rowsOf.keys(), ...this.lawful.keys()]);
    return [...queues].flatMap((queue) => {
      const quota = quotaOf(queue);
      if (isRecovering || quota !== this.quotas.get(queue)) this.changedAt.set(queue, at);
      this.quotas.set(queue, quota);
      const isSettled = at - this.changedAt.get(queue)! > LAG_SECONDS;
      return this.check(queue, countsOf(rowsOf.get(queue) ?? []), isSettled ? quota : undefined);
    });
  }

  private check(queue: string, held: Counts, quota: CountedQuota | undefined): Violation[] {
    const before = this.lawful.get(queue) ?? { jobs: 0, nodes: 0 };
    const exceeded = KEYS.filter((key) => held[key] > Math.max(quota?.[key] ?? Infinity, before[key]));
    if (exceeded.length === 0) this.lawful.set(queue, held);
    return exceeded.map((key) => ({
      invariant: 'quota',
      text: `queue ${queue} holds more ${key} than its quota of ${quota![key]}`,
    }));
  }
}

function countsOf(rows: readonly Pick<SeenRow, 'allocation'>[]): Counts {
  const nodes = rows.flatMap(({ allocation }) => allocation?.nodes.map(({ name }) => name) ?? []);
  return { jobs: rows.length, nodes: new Set(nodes).size };
}

/**
 * Grants on nodes that took no pods at that time.
 * @param closedSince node -> since when it takes none, in seconds
 */
export function closedNodeGrants(
  events: readonly LoggedEvent[],
  closedSince: ReadonlyMap<string, number>,
): Violation[] {
  return events
    .filter(({ event }) => event === 'Allocated')
    .flatMap(({ uid, at, detail }) =>
      ((detail.nodes ?? []) as readonly AllocatedNode[])
        .filter(({ name }) => at - (closedSince.get(name) ?? at) > LAG_SECONDS)
        .map(({ name }) => ({ invariant: 'nodes', text: `${uid} was granted ${name}, which takes no pods` })),
    );
}

/** Preemptions of workloads whose users have not agreed to it. A requeue counts the preemptions so far. */
export function unlawfulPreemptions(
  events: readonly LoggedEvent[],
  rows: readonly Pick<SeenRow, 'uid' | 'preemptible'>[],
): Violation[] {
  const preemptible = new Set(rows.filter((row) => row.preemptible).map(({ uid }) => uid));
  return events
    .filter(
      ({ event, uid, detail }) =>
        event === 'Requeued' && Number(detail.preemptions) > 0 && !preemptible.has(uid),
    )
    .map(({ uid }) => ({ invariant: 'preemption', text: `${uid} was preempted and is not preemptible` }));
}
