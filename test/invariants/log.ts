/** Checks I1 and I6 on the event log: no unit is granted twice, and no workload is requeued or cancelled without a cause. */
import type { AllocatedNode } from '../../runtime/resources/types';
import type { Interventions, LoggedEvent, NodeLoss, Observation, Violation } from './observation';

/** In the message about a pod that has no controller and did not run. */
const BARE_POD = 'no controller would create it again';
/** In the message about a workload that no longer asks for what it was granted. */
const CHANGED = 'what it asks for, or its queue, changed';
/** Seconds by which the controller may see a FluxSetup later than it writes a row. */
const QUEUE_LAG_SECONDS = 5;
/** Seconds until kube-scheduler has tried a pod again. */
const RETRY_SECONDS = 5;
/** Seconds after a fault of a node in which its workloads are requeued. */
const LOSS_SECONDS = 60;
/** Events that set the nodes of a workload. */
const GRANTS: ReadonlySet<string> = new Set(['Allocated', 'Adopted', 'Reallocated']);

/** I1: no unit is granted to a workload while another workload holds it. */
export function doubleGrants(events: readonly LoggedEvent[]): Violation[] {
  const holders = new Holders();
  for (const [i, { uid, at, event, detail }] of events.entries()) {
    if (event === 'Requeued' || event === 'Finished') holders.release(uid);
    if (event === 'Reallocated') holders.release(uid, new Set(unitsOf(detail)));
    if (event === 'Allocated') holders.grant(uid, new Set(unitsOf(detail)));
    if (event !== 'Adopted') continue;
    // One statement adopts several workloads, and may replace what each of them held.
    if (!isAdoptedAt(events[i - 1], at))
      for (let j = i; isAdoptedAt(events[j], at); j++) holders.release(events[j]!.uid);
    holders.grant(uid, new Set(unitsOf(detail)));
  }
  return holders.violations;
}

/** Who holds which units after the events so far. */
class Holders {
  readonly violations: Violation[] = [];
  private readonly holder = new Map<string, string>();
  private readonly unitsOf = new Map<string, ReadonlySet<string>>();

  release(uid: string, kept: ReadonlySet<string> = new Set()): void {
    for (const unit of this.unitsOf.get(uid) ?? []) if (!kept.has(unit)) this.holder.delete(unit);
    this.unitsOf.set(uid, kept);
  }

  grant(uid: string, units: ReadonlySet<string>): void {
    for (const unit of units) {
      const other = this.holder.get(unit);
      if (other !== undefined)
        this.violations.push({
          invariant: 'I1',
          text: `${unit} was granted to ${uid} while ${other} holds it`,
        });
      this.holder.set(unit, uid);
    }
    this.unitsOf.set(uid, units);
  }
}

function isAdoptedAt(event: LoggedEvent | undefined, at: number): boolean {
  return event?.event === 'Adopted' && event.at === at;
}

function unitsOf({ nodes }: LoggedEvent['detail']): Iterable<string> {
  return unitsIn((nodes ?? []) as readonly AllocatedNode[]);
}

/** `node-1/core0`, `node-1/core1`, ... */
export function* unitsIn(nodes: readonly AllocatedNode[]): Iterable<string> {
  for (const { name, units } of nodes)
    for (const [type, ids] of Object.entries(units))
      for (const id of numbersIn(ids)) yield `${name}/${type}${id}`;
}

/** `0-2,5` */
function numbersIn(ids: string): number[] {
  return ids
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

/**
 * I6: a restart of the controller changes nothing. A workload is requeued only if it lost a node or was evicted, and
 * cancelled only if its object was deleted.
 */
export function unexplainedChanges(
  { events, jobs, pods }: Observation,
  interventions: Interventions,
): Violation[] {
  const found: Violation[] = [];
  const existing = new Set(
    [...jobs, ...pods]
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid),
  );
  const causes = new RequeueCauses(interventions);
  for (const logged of events) {
    const { uid, event, detail } = logged;
    if (event === 'Requeued' && !causes.ofRequeue(logged))
      found.push({ invariant: 'I6', text: `${uid} was requeued without a cause: ${String(detail.message)}` });
    if (isCancelled(logged) && existing.has(uid) && !interventions.stopped.has(uid))
      found.push({ invariant: 'I6', text: `${uid} was cancelled and its object exists` });
    causes.apply(logged);
  }
  return found;
}

function isFelt({ from, until }: NodeLoss, at: number): boolean {
  return from <= at && at <= until + LOSS_SECONDS;
}

function isCancelled({ event, detail }: LoggedEvent): boolean {
  return event === 'Finished' && detail.result === 'Cancelled';
}

/** The causes of a requeue in the events so far. */
class RequeueCauses {
  private readonly evictions = new Set<string>();
  private readonly nodesOf = new Map<string, readonly string[]>();
  /** When what the workload asks for was written into its row. */
  private readonly submittedAt = new Map<string, number>();
  private readonly queueOf = new Map<string, unknown>();

  constructor(private readonly interventions: Interventions) {}

  ofRequeue(requeue: LoggedEvent): boolean {
    const { uid, at, detail } = requeue;
    const { losses, stopped } = this.interventions;
    const lost = new Set(losses.filter((loss) => isFelt(loss, at)).map(({ node }) => node));
    const nodes = this.nodesOf.get(uid) ?? [];
    const isLost = nodes.some((name) => lost.has(name) || this.refusedPod(name, at, detail));
    return isLost || this.evictions.has(uid) || stopped.has(uid) || this.isChanged(requeue);
  }

  /** The row is as its user wanted it, and its queue allowed it, before the grant. */
  private isChanged({ uid, at: when, detail: { message } }: LoggedEvent): boolean {
    if (!String(message).includes(CHANGED)) return false;
    const { changes, queueChanges, injectedSince = Number.POSITIVE_INFINITY } = this.interventions;
    const since = this.submittedAt.get(uid) ?? 0;
    return (
      when >= injectedSince ||
      changes.some(({ uid: of, at }) => of === uid && at >= since && at <= when) ||
      queueChanges.some(
        ({ queue, at }) => queue === this.queueOf.get(uid) && at >= since - QUEUE_LAG_SECONDS && at <= when,
      )
    );
  }

  /** Other workloads are evicted before they are requeued. */
  private refusedPod(name: string, at: number, { message }: LoggedEvent['detail']): boolean {
    if (!String(message).includes(BARE_POD)) return false;
    return this.interventions.closures.some(
      ({ node, from, until }) => node === name && from < at && at < until + RETRY_SECONDS,
    );
  }

  apply({ uid, at, event, detail }: LoggedEvent): void {
    if (event === 'Submitted' || event === 'Updated') {
      this.submittedAt.set(uid, at);
      this.queueOf.set(uid, detail.queue ?? this.queueOf.get(uid));
    }
    if (event === 'EvictionRequested') this.evictions.add(uid);
    if (event === 'Requeued') this.evictions.delete(uid);
    if (!GRANTS.has(event)) return;
    const nodes = (detail.nodes ?? []) as readonly AllocatedNode[];
    this.nodesOf.set(
      uid,
      nodes.map(({ name }) => name),
    );
  }
}
