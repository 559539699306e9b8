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
  const queueOf = new Map<string, unknown>();
  for (const { uid, at, event, detail } of events) {
    queueOf.set(uid, detail.queue ?? queueOf.get(uid));
    if (event !== 'Allocated') continue;
    const now = { at, text: describe(detail) };
    const before = termsOf.get(uid);
    termsOf.set(uid, now);
    if (before === undefined || before.text === now.text) continue;
    if (!isExplained(uid, queueOf.get(uid), { from: before.at - LAG_SECONDS, to: at }, interventions))
      found.push({ invariant: 'I6', text: `${uid} was granted ${now.text} after ${before.text}` });
  }
  return found;
}

function isExplained(
  uid: string,
  queue: unknown,
  { from, to }: { readonly from: number; readonly to: number },
  { changes, queueChanges }: Interventions,
): boolean {
  const isBetween = ({ at }: { readonly at: number }) => at >= from && at <= to;
  return (
    changes.some((change) => change.uid === uid && isBetween(change)) ||
    queueChanges.some((change) => change.queue === queue && isBetween(change))
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
