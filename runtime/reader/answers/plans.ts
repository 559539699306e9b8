/** `list plans`: what runs, what the leader promised, and a plan behind the promises. */
import type { WorkloadRow } from '../../queue/workload';
import { compareTexts } from '../../queue-order';
import type { Allocation } from '../../resources/types';
import { plannedAllocation } from '../../scheduler/pass/planned-end';
import { mayBePlanned } from '../../scheduler/queue-plan';
import type { EstimateError, Plan, PlannedJob } from '../kinds';
import type { ReadResource } from '../resource';
import { answered, isoOf } from './answered';
import type { ReadModel } from './read-model';
import { Recent } from './recent';
import { likelyStarts, planned, situationOf, sooner } from './situation';

/** Seconds of the log that tell how far estimates were from the truth. */
const ERROR_SECONDS = 7 * 24 * 3600;
/** Milliseconds for which such a number counts as present. */
const ERROR_MS = 60_000;
/** Milliseconds for which a plan counts as present. */
const PLAN_MS = 1_000;

/** The plan of all namespaces. */
interface FullPlan {
  readonly now: number;
  readonly jobs: readonly PlannedJob[];
  /** Waiting workloads without a start, and whether they may have one. */
  readonly others: readonly (Pick<WorkloadRow, 'namespace'> & { readonly mayStart: boolean })[];
}

export function plans(model: ReadModel): ReadResource {
  const plan = new Recent(model.clock, PLAN_MS, () => planNow(model));
  const error = new Recent(model.clock, ERROR_MS, () => errorNow(model));
  return {
    name: 'plans',
    singular: 'plan',
    kind: 'Plan',
    namespaced: true,
    verbs: ['list'],
    async answer(request): Promise<Plan> {
      const { namespace } = request;
      const [{ now, jobs, others }, estimateError] = await Promise.all([plan.get(), error.get()]);
      const isVisible = (one: { readonly namespace: string }) =>
        namespace === undefined || one.namespace === namespace;
      const visible = others.filter(isVisible);
      return {
        ...answered('Plan', request),
        now: isoOf(now),
        jobs: jobs.filter(isVisible),
        unplanned: visible.filter(({ mayStart }) => mayStart).length,
        blocked: visible.filter(({ mayStart }) => !mayStart).length,
        ...(estimateError && { estimateError }),
      };
    },
  };
}

async function errorNow(model: ReadModel): Promise<EstimateError | undefined> {
  const { queue } = await model.openTables();
  return queue.estimateError(model.now() - ERROR_SECONDS);
}

async function planNow(model: ReadModel): Promise<FullPlan> {
  const situation = await situationOf(model);
  const { line, plan } = await planned(situation, model.clock);
  const likely = await likelyStarts(model, situation);
  const { rows } = await model.openTables();
  const { now, holders } = situation;
  const running = holders.map((row) => holderJob(row, now));
  const ahead = line.flatMap((row) => {
    const allocation = plan.allocations.get(row.uid);
    if (allocation === undefined) return [];
    const state = row.estimatedStart === null ? 'Planned' : 'Reserved';
    const start = startOf(row, allocation, now);
    return [{ ...jobOf(row, state, start), ...sooner(likely.get(row.uid), start) }];
  });
  const started = new Set(line.filter(({ uid }) => plan.allocations.has(uid)).map(({ uid }) => uid));
  return {
    now,
    jobs: [...running, ...ahead].sort(byStart),
    others: [...rows.active()]
      .filter(({ phase, uid }) => phase === 'Waiting' && !started.has(uid))
      .map((row) => ({ namespace: row.namespace, mayStart: mayBePlanned(row) })),
  };
}

/** A plan that is made without the leader's promises may differ from them, and then they count. */
function startOf({ estimatedStart }: WorkloadRow, allocation: Allocation, now: number): Allocation {
  if (estimatedStart === null || estimatedStart < now) return allocation;
  return { ...allocation, start: estimatedStart, end: estimatedStart + allocation.end - allocation.start };
}

function holderJob(row: WorkloadRow, now: number): PlannedJob {
  const allocation = row.allocation!;
  const start = row.startedAt ?? row.allocatedAt ?? allocation.start;
  // Its walltime counts from the start of its first container, which is later than now.
  if (row.startedAt === null)
    return jobOf(row, 'Starting', {
      ...allocation,
      start,
      end: Math.max(allocation.end, now + row.walltime),
    });
  if (allocation.end > now) return jobOf(row, 'Running', { ...allocation, start });
  return { ...jobOf(row, 'Running', { ...plannedAllocation(row, now), start }), overdue: true };
}

function jobOf(
  { namespace, name, kind, queue }: WorkloadRow,
  state: PlannedJob['state'],
  { start, end, nodes }: Allocation,
): PlannedJob {
  const names = nodes.map((node) => node.name);
  return { namespace, name, kind, queue, state, start: isoOf(start), end: isoOf(end), nodes: names };
}

function byStart(a: PlannedJob, b: PlannedJob): number {
  return (
    compareTexts(a.start, b.start) || compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name)
  );
}
