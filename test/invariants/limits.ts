/** Checks that grants keep to what administrators allow: quotas, nodes that take no pods, and preemption by consent. */
import { askOf, isArray } from '../../runtime/jobspec/jobspec';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { countIdset } from '../../runtime/resources/idset';
import type { AllocatedNode } from '../../runtime/resources/types';
import { unitsIn } from './log';
import type { LoggedEvent, SeenRow, Violation } from './observation';

/** The part of a quota that is checked, as administrators write it. Absent: not limited. */
export interface CountedQuota {
  readonly jobs?: number;
  readonly pods?: number;
  /** `4`, but not `500m`. */
  readonly cores?: string;
  readonly nodes?: number;
}

const KEYS = ['jobs', 'pods', 'cores', 'nodes'] as const;

type Counts = Readonly<Record<(typeof KEYS)[number], number>>;
type CountedRow = Pick<WorkloadRow, 'queue' | 'phase' | 'pods' | 'allocation' | 'jobspec'>;

const NOTHING: Counts = { jobs: 0, pods: 0, cores: 0, nodes: 0 };

/** A core unit: `node-1/core0`. */
const CORE = /\/core\d+$/;
/** Seconds from a change by an administrator to the last commit that is based on the state before it. */
const LAG_SECONDS = 5;

/** Checks that no queue takes more than its quota. What it holds when its quota becomes smaller may stay. */
export class QuotaObserver {
  /** What each queue held lawfully at last. */
  private readonly lawful = new Map<string, Counts>();
  private readonly quotas = new Map<string, CountedQuota | undefined>();
  private readonly changedAt = new Map<string, number>();

  /** @param coreUnit cores of one core unit of an allocation */
  constructor(private readonly coreUnit: number) {}

  /**
   * @param at seconds
   * @param quotaOf the quota of a queue: the same object until it changes
   * @param isExcused whether a fault may keep changes of the quota from the controller, or a running workload was adopted
   */
  observe(
    at: number,
    rows: readonly CountedRow[],
    quotaOf: (queue: string) => CountedQuota | undefined,
    isExcused: (queue: string) => boolean,
  ): Violation[] {
    const granted = rows.filter(({ phase }) => phase === 'Ready' || phase === 'Running');
    const rowsOf = Map.groupBy(granted, ({ queue }) => queue);
    const queues = new Set([...rowsOf.keys(), ...this.lawful.keys()]);
    return [...queues].flatMap((queue) => {
      const quota = quotaOf(queue);
      if (isExcused(queue) || quota !== this.quotas.get(queue)) this.changedAt.set(queue, at);
      this.quotas.set(queue, quota);
      const isSettled = at - this.changedAt.get(queue)! > LAG_SECONDS;
      return this.check(queue, this.countsOf(rowsOf.get(queue) ?? []), isSettled ? quota : undefined);
    });
  }

  private check(queue: string, held: Counts, quota: CountedQuota | undefined): Violation[] {
    const before = this.lawful.get(queue) ?? NOTHING;
    const exceeded = KEYS.filter(
      (key) => held[key] > Math.max(Number(quota?.[key] ?? Infinity), before[key]),
    );
    if (exceeded.length === 0) this.lawful.set(queue, held);
    return exceeded.map((key) => ({
      invariant: 'quota',
      text: `queue ${queue} holds ${held[key]} ${key}, more than its quota of ${quota![key]}`,
    }));
  }

  private countsOf(rows: readonly CountedRow[]): Counts {
    const nodes = rows.flatMap(({ allocation }) => allocation?.nodes ?? []);
    const units = [...unitsIn(nodes)].filter((unit) => CORE.test(unit));
    return {
      jobs: rows.length,
      pods: rows.reduce((sum, row) => sum + podsAtOnce(row), 0),
      cores: units.length * this.coreUnit,
      nodes: new Set(nodes.map(({ name }) => name)).size,
    };
  }
}

/** Of an array that was granted fewer pods than it may have, the others wait gated. */
function podsAtOnce({ pods, allocation, jobspec }: CountedRow): number {
  if (allocation === null || !isArray(jobspec)) return pods;
  const { perPod, exclusive } = askOf(jobspec);
  const granted = allocation.nodes.map(({ units }) =>
    exclusive ? 1 : Math.floor(countIdset(units.core ?? '') / perPod.core!),
  );
  return Math.min(
    pods,
    granted.reduce((sum, count) => sum + count, 0),
  );
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

/** So often nobody is evicted for others in a run, unless two take the same quota from each other in turn. */
const MOST_PREEMPTIONS = 30;

export function endlessPreemptions(rows: readonly Pick<SeenRow, 'uid' | 'preemptions'>[]): Violation[] {
  return rows
    .filter(({ preemptions }) => preemptions > MOST_PREEMPTIONS)
    .map(({ uid, preemptions }) => ({
      invariant: 'preemption',
      text: `${uid} was evicted for others ${preemptions} times`,
    }));
}
