/**
 * Promises that wait for what has not started, or has not ended. Who comes after one may take its nodes in front of it only for as long as
 * he would hold them without a start, or with his grace period: or a stream of short workloads would pass it for ever, each of which comes a
 * little later. Who comes after one that has moved with a late start leaves them when he would have had to before: or each one that is let
 * past the promise, and starts late itself, would let the next one past. What was promised itself for now starts so.
 */
import type { WorkloadRow } from '../../queue/workload';
import { isEndless } from '../../resources/endless';
import type { Allocation } from '../../resources/types';
import { countsOn, dueEnd, plannedEndOf, startLimitOf, TERMINATION_SECONDS } from './planned-end';
import type { Reservation } from './reservations';
import { holdsInVain, lateStartOf } from './unstarted';

type Planned = Pick<Reservation, 'uid' | 'allocation'>;

/** What is promised, as far as it may wait for what has not started, or has started late. */
export interface Promises {
  /** Rows with an allocation, as they are. */
  readonly held: readonly WorkloadRow[];
  readonly reservations: readonly Planned[];
  /** Those that are to be made again, because what holds their nodes ends later. */
  readonly lost: readonly Planned[];
  readonly now: number;
}

interface Late extends Planned {
  /** Its place in the line. */
  readonly place: number;
  /** By how many seconds it has moved with a late start. @default - it waits for what is overdue */
  readonly seconds?: number;
}

type Place = Pick<Allocation, 'start' | 'nodes'>;

export class LatePromises {
  private readonly byNode = new Map<string, Late[]>();
  private readonly places = new Map<string, number>();
  /** Nodes of what holds them in vain, or beyond its planned end. */
  private readonly overdue: ReadonlySet<string>;
  /** Those of what holds them in vain. */
  private readonly unstarted: ReadonlySet<string>;

  /** @param line those that wait, in their order */
  constructor(line: readonly WorkloadRow[], promises: Promises) {
    const { held, reservations, lost, now } = promises;
    const overdue = held.filter((row) => holdsInVain(row, now) || dueEnd(row) <= now);
    this.overdue = namesOf(overdue);
    this.unstarted = namesOf(overdue.filter(({ startedAt }) => startedAt === null));
    const waiting = overdue.length === 0 ? [] : [...reservations, ...lost];
    const found = [...waiting.filter((one) => isOn(one.allocation, this.overdue)), ...moved(line, promises)];
    if (found.length === 0) return;
    line.forEach(({ uid }, place) => {
      this.places.set(uid, place);
    });
    for (const one of found) this.add({ ...one, place: this.places.get(one.uid) ?? Infinity });
    // They start as promised.
    for (const { uid, allocation } of reservations) if (allocation.start <= now) this.places.delete(uid);
  }

  private add(late: Late): void {
    for (const { name } of late.allocation.nodes) {
      const known = this.byNode.get(name) ?? [];
      known.push(late);
      this.byNode.set(name, known);
    }
  }

  /**
   * How many seconds longer than planned the row has to fit there, in front of promises that come before it in the line; 0: it does, or takes
   * none of their nodes.
   * @param placeOf where such a promise is now
   */
  missing(row: WorkloadRow, { start, nodes }: Place, placeOf: (uid: string) => Place | undefined): number {
    const place = this.byNode.size === 0 ? undefined : this.places.get(row.uid);
    if (place === undefined || isEndless({ start: 0, end: row.walltime })) return 0;
    const found = new Map<Late, Pressed | undefined>();
    let most = 0;
    for (const { name } of nodes)
      for (const late of this.byNode.get(name) ?? []) {
        if (late.place >= place) continue;
        if (!found.has(late)) found.set(late, this.pressedBy(row, start, late, placeOf(late.uid)));
        most = Math.max(most, extraOn(name, found.get(late)));
      }
    return most;
  }

  /** Undefined if the row would leave in time, or the promise waits for what is late no more: it may have found other nodes. */
  private pressedBy(
    row: WorkloadRow,
    start: number,
    { seconds }: Late,
    promised: Place | undefined,
  ): Pressed | undefined {
    if (promised === undefined || start >= promised.start) return undefined;
    const isLate = seconds !== undefined || isOn(promised, this.overdue);
    if (!isLate) return undefined;
    const needed = isOn(promised, this.unstarted) ? startLimitOf(row) - row.walltime : 0;
    // Fluxion counts whole seconds.
    const extra = Math.ceil(seconds ?? needed + TERMINATION_SECONDS);
    if (start + row.walltime + extra <= promised.start) return undefined;
    return { extra, nodes: new Set(promised.nodes.map(({ name }) => name)) };
  }
}

function extraOn(node: string, pressed: Pressed | undefined): number {
  return pressed?.nodes.has(node) === true ? pressed.extra : 0;
}

/** A promise that would come later if the row needed more time. */
interface Pressed {
  readonly extra: number;
  readonly nodes: ReadonlySet<string>;
}

function namesOf(rows: readonly WorkloadRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ allocation }) => allocation!.nodes.map(({ name }) => name)));
}

function isOn({ nodes }: Place, names: ReadonlySet<string>): boolean {
  return nodes.some(({ name }) => names.has(name));
}

/** The promises that counted on an end before that workload had started. */
function moved(
  line: readonly WorkloadRow[],
  { held, reservations, lost, now }: Promises,
): readonly (Planned & { readonly seconds: number })[] {
  const slow = held.filter((row) => lateStartOf(row) > 0);
  if (slow.length === 0) return [];
  const submitted = new Map(line.map(({ uid, submittedAt }) => [uid, submittedAt]));
  const byStart = Map.groupBy(reservations, ({ allocation }) => allocation.start);
  return slow.flatMap((row) => {
    const [end, seconds] = [dueEnd(row), lateStartOf(row)];
    const names = new Set(row.allocation!.nodes.map(({ name }) => name));
    const counted = lost.filter(({ allocation }) =>
      countsOn(allocation.start, { before: end - seconds, end }),
    );
    return [...(byStart.get(plannedEndOf(row, now)) ?? []), ...counted]
      .filter(({ uid, allocation }) => {
        return isOn(allocation, names) && (submitted.get(uid) ?? Infinity) < row.startedAt!;
      })
      .map((one) => ({ ...one, seconds }));
  });
}
