/** Checks that what pods use beyond their grants counts in the quota of their queue: no grant is made beside it for which the quota has no room. */
import type { Pod } from '../../runtime/kubernetes/types';
import { countIdset } from '../../runtime/resources/idset';
import type { SeenRow, Violation } from './observation';
import { coresOf } from './pod-cores';

/** Seconds in which the controller sees a pod, and the last pass ends that began before, with calls that are slow. */
const LAG_SECONDS = 15;

interface Sample {
  readonly at: number;
  readonly surplus: number;
}

export class SurplusQuotaObserver {
  /** Queue -> what its pods used beyond their grants, of the last seconds. */
  private readonly samples = new Map<string, readonly Sample[]>();
  /** Queue -> job ids of its grants at last. */
  private readonly granted = new Map<string, ReadonlySet<number>>();

  private readonly quotas = new Map<string, number>();

  /** @param coreUnit cores of one core unit of an allocation */
  constructor(private readonly coreUnit: number) {}

  /**
   * @param at seconds
   * @param quotaOf the cores of the quota of a queue
   * @param isExcused whether a fault may keep pods or changes of the quota from the controller
   */
  observe(
    at: number,
    seen: { readonly rows: readonly SeenRow[]; readonly pods: readonly Pod[] },
    quotaOf: (queue: string) => number | undefined,
    isExcused: (queue: string) => boolean,
  ): Violation[] {
    const pods = Map.groupBy(seen.pods.filter(isLasting), ({ metadata }) => ownerOf(metadata));
    const rows = seen.rows.filter(({ phase, allocation }) => allocation !== null && phase !== 'Finished');
    const byQueue = Map.groupBy(rows, ({ queue }) => queue);
    return [...new Set([...this.granted.keys(), ...byQueue.keys()])].flatMap((queue) => {
      const own = byQueue.get(queue) ?? [];
      const granted = own.reduce((sum, row) => sum + this.coresOn(row), 0);
      const before = this.granted.get(queue);
      this.granted.set(queue, new Set(own.map(({ jobid }) => jobid)));
      const isNew = own.some(({ jobid }) => before?.has(jobid) !== true);
      const surplus = own.reduce((sum, row) => sum + this.beyond(row, pods.get(row.uid) ?? []), 0);
      const quota = quotaOf(queue) ?? Infinity;
      if (isExcused(queue) || quota !== this.quotas.get(queue)) this.samples.delete(queue);
      this.quotas.set(queue, quota);
      const known = this.known(queue, { at, surplus });
      if (!isNew || known === 0 || granted + known <= quota) return [];
      const text = `queue ${queue} was granted ${granted} cores beside ${known} that its pods use beyond their grants, of ${quota}`;
      return [{ invariant: 'quota', text }];
    });
  }

  /** The least of the last seconds; 0 if it was not seen for so long. */
  private known(queue: string, sample: Sample): number {
    const since = sample.at - LAG_SECONDS;
    const past = this.samples.get(queue) ?? [];
    const first = past.findLastIndex(({ at }) => at <= since);
    const kept = past.slice(Math.max(0, first));
    this.samples.set(queue, [...kept, sample]);
    return first === -1 ? 0 : Math.min(...kept.map(({ surplus }) => surplus), sample.surplus);
  }

  private coresOn({ allocation }: SeenRow, node?: string): number {
    const nodes = allocation?.nodes.filter(({ name }) => node === undefined || name === node) ?? [];
    return nodes.reduce((sum, { units }) => sum + countIdset(units.core ?? '') * this.coreUnit, 0);
  }

  /** Cores that these pods of a workload request beyond its grant, node by node; one that has a whole node has all of it. */
  private beyond(row: SeenRow, pods: readonly Pod[]): number {
    let cores = 0;
    for (const [node, those] of Map.groupBy(pods, ({ spec }) => spec.nodeName!)) {
      if (row.allocation!.nodes.some(({ name, exclusive }) => name === node && exclusive)) continue;
      const used = those.reduce((sum, pod) => sum + coresOf(pod), 0);
      cores += Math.max(0, used - this.coresOn(row, node));
    }
    return cores;
  }
}

/** One that is about to end is not counted: its successor was granted its units. */
function isLasting({ metadata, spec, status }: Pod): boolean {
  return (
    spec.nodeName !== undefined && status?.phase === 'Running' && metadata.deletionTimestamp === undefined
  );
}

function ownerOf({ ownerReferences: [owner] = [], uid }: Pod['metadata']): string {
  return owner?.uid ?? uid;
}
