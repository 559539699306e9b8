/**
 * Checks I6: the terms of a grant are those of the grant before. Its walltime and the units of its pods change only if the
 * user of the workload or the administrator of its queue changed them, whatever ended the grant before.
 */
import type { AllocatedNode } from '../../runtime/resources/types';
import { unitsIn } from './log';
import type { Interventions, LoggedEvent, Violation } from './observation';

/** Seconds by which the controller may see a change later than it was made. */
const LAG_SECONDS = 5;

interface Terms {
  readonly at: number;
  readonly text: string;
}

export function changedTerms(events: readonly LoggedEvent[], interventions: Interventions): Violation[] {
  const found: Violation[] = [];
  const termsOf = new Map<string, Terms>();
  /** The queues in which a workload was since its last grant, its own may have been deleted. */
  const queuesOf = new Map<string, unknown[]>();
  for (const { uid, at, event, detail } of events) {
    const queues = queuesOf.get(uid) ?? [];
    queuesOf.set(uid, queues);
    if (detail.queue !== undefined) queues.push(detail.queue);
    if (event !== 'Allocated') continue;
    queuesOf.set(uid, queues.slice(-1));
    const now = { at, text: describe(detail) };
    const before = termsOf.get(uid);
    termsOf.set(uid, now);
    if (before === undefined || before.text === now.text) continue;
    if (!isExplained(uid, queues, { from: before.at - LAG_SECONDS, to: at }, interventions))
      found.push({ invariant: 'I6', text: `${uid} was granted ${now.text} after ${before.text}` });
  }
  return found;
}

function isExplained(
  uid: string,
  queues: readonly unknown[],
  { from, to }: { readonly from: number; readonly to: number },
  { changes, queueChanges }: Interventions,
): boolean {
  const isBetween = ({ at }: { readonly at: number }) => at >= from && at <= to;
  return (
    changes.some((change) => change.uid === uid && isBetween(change)) ||
    queueChanges.some((change) => queues.includes(change.queue) && isBetween(change))
  );
}

/** A whole node has as many units as it has. */
function describe({ start, end, nodes = [] }: LoggedEvent['detail']): string {
  const allocated = nodes as readonly AllocatedNode[];
  const types = [...unitsIn(allocated)].map((unit) => unit.replace(/^[^/]*\/(.*?)[0-9]+$/, '$1'));
  const counts = [...Map.groupBy(types, (type) => type)].map(([type, { length }]) => `${length} ${type}`);
  const units = allocated.some(({ exclusive }) => exclusive) ? 'whole nodes' : counts.sort().join(', ');
  return `${units} for ${Math.round(Number(end) - Number(start))} s`;
}
