import type { AllocatedNode } from '../../runtime/resources/types';
import type { Deeds, LoggedEvent, Observation, Violation } from './observation';

/** Events that say which nodes a workload has from then on. */
const GRANTS: ReadonlySet<string> = new Set(['Allocated', 'Adopted', 'Reallocated']);

/** I1: no unit is granted to a second one while a first one has it. */
export function doubleGrants(events: readonly LoggedEvent[]): Violation[] {
  const found: Violation[] = [];
  const holder = new Map<string, string>();
  const unitsOfHolder = new Map<string, ReadonlySet<string>>();
  const release = (uid: string, kept: ReadonlySet<string>) => {
    for (const unit of unitsOfHolder.get(uid) ?? []) if (!kept.has(unit)) holder.delete(unit);
    unitsOfHolder.set(uid, kept);
  };
  for (const { uid, event, detail } of events) {
    if (event === 'Requeued' || event === 'Finished') release(uid, new Set());
    if (event === 'Reallocated') release(uid, new Set(unitsIn(detail)));
    if (event !== 'Allocated' && event !== 'Adopted') continue;
    const units = new Set(unitsIn(detail));
    for (const unit of units) {
      const other = holder.get(unit);
      if (other !== undefined)
        found.push({ invariant: 'I1', text: `${unit} was granted to ${uid}, ${other} has it` });
      holder.set(unit, uid);
    }
    unitsOfHolder.set(uid, units);
  }
  return found;
}

function* unitsIn(detail: LoggedEvent['detail']): Iterable<string> {
  for (const { name, units } of (detail.nodes ?? []) as readonly AllocatedNode[])
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
 * I6: a restart changes nothing. Nobody is sent back to the queue who has all his nodes and was not taken back,
 * and nobody is called cancelled whose object is there.
 */
export function causeless({ events, jobs, pods }: Observation, deeds: Deeds): Violation[] {
  const found: Violation[] = [];
  const there = new Set([...jobs, ...pods].map(({ metadata }) => metadata.uid));
  const causes = new Causes(deeds);
  for (const logged of events) {
    const { uid, event, detail } = logged;
    if (event === 'Requeued' && !causes.ofRequeue(uid))
      found.push({ invariant: 'I6', text: `${uid} was requeued without a cause: ${String(detail.message)}` });
    if (isCancelled(logged) && there.has(uid) && !deeds.stopped.has(uid))
      found.push({ invariant: 'I6', text: `${uid} is called cancelled and its object is there` });
    causes.follow(logged);
  }
  return found;
}

function isCancelled({ event, detail }: LoggedEvent): boolean {
  return event === 'Finished' && detail.result === 'Cancelled';
}

/** What of the log so far may send a workload back. */
class Causes {
  private readonly recalled = new Set<string>();
  private readonly nodesOf = new Map<string, readonly string[]>();

  constructor(private readonly deeds: Deeds) {}

  ofRequeue(uid: string): boolean {
    const lost = this.nodesOf.get(uid)?.some((name) => this.deeds.lostNodes.has(name)) ?? false;
    return lost || this.recalled.has(uid) || this.deeds.stopped.has(uid);
  }

  follow({ uid, event, detail }: LoggedEvent): void {
    if (event === 'EvictionRequested') this.recalled.add(uid);
    if (event === 'Requeued') this.recalled.delete(uid);
    if (!GRANTS.has(event)) return;
    const nodes = (detail.nodes ?? []) as readonly AllocatedNode[];
    this.nodesOf.set(
      uid,
      nodes.map(({ name }) => name),
    );
  }
}
