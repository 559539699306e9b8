/**
 * Checks I6: the terms of a grant are those of the grant before. Its walltime and the units of its pods change only if the
 * user of the workload or the administrator of its queue changed them, whatever ended the grant before. An array that does not fit
 * the nodes that are left, or never fits whole and services hold a part of them, has fewer pods of the same size; so has one with
 * fewer tasks left.
 */
import type { AllocatedNode } from '../../runtime/resources/types';
import { unitsIn } from './log';
import type { Interventions, LoggedEvent, Violation } from './observation';

/** Seconds by which the controller may see a change later than it was made. */
const LAG_SECONDS = 5;

interface Terms {
  readonly at: number;
  readonly text: string;
  readonly seconds: number;
  /** Units by type. */
  readonly counts: ReadonlyMap<string, number>;
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
    const now = { at, ...termsIn(detail) };
    const before = termsOf.get(uid);
    termsOf.set(uid, now);
    if (before === undefined || before.text === now.text) continue;
    if (hasOtherWidth(before, now) && mayHave(uid, { before, now }, interventions)) continue;
    if (!isExplained(uid, queues, { from: before.at - LAG_SECONDS, to: at }, interventions))
      found.push({ invariant: 'I6', text: `${uid} was granted ${now.text} after ${before.text}` });
  }
  return found;
}

/** Nodes were lost at one of the two grants, or what is left is less. */
function mayHave(
  uid: string,
  { before, now }: { readonly before: Terms; readonly now: Terms },
  { losses, services, progressed }: Interventions,
): boolean {
  const isShort = ({ at }: Terms) =>
    losses.some(({ from, backAt }) => from <= at && at <= backAt + LAG_SECONDS);
  return (
    services || [before, now].some(isShort) || (isNarrower(before, now) && progressed?.has(uid) === true)
  );
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

/** Whether only the number of equal pods differs. */
function hasOtherWidth(before: Terms, now: Terms): boolean {
  const ratios = [...before.counts].map(([type, count]) => (now.counts.get(type) ?? 0) / count);
  const isSame = new Set(ratios).size === 1 && before.counts.size === now.counts.size;
  return isSame && before.seconds === now.seconds;
}

function isNarrower(before: Terms, now: Terms): boolean {
  return [...before.counts].every(([type, count]) => (now.counts.get(type) ?? 0) < count);
}

/** A whole node has as many units as it has. */
function termsIn({ start, end, nodes = [] }: LoggedEvent['detail']): Omit<Terms, 'at'> {
  const allocated = nodes as readonly AllocatedNode[];
  const types = [...unitsIn(allocated)].map((unit) => unit.replace(/^[^/]*\/(.*?)[0-9]+$/, '$1'));
  const counts = new Map([...Map.groupBy(types, (type) => type)].map(([type, { length }]) => [type, length]));
  const shown = [...counts].map(([type, count]) => `${count} ${type}`).sort();
  const units = allocated.some(({ exclusive }) => exclusive) ? 'whole nodes' : shown.join(', ');
  const seconds = Math.round(Number(end) - Number(start));
  return { text: `${units} for ${seconds} s`, seconds, counts };
}
