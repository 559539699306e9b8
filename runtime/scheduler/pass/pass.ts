/**
 * Words of this folder: a *pass* is one run over everything that waits; a
 * *grant* is an allocation that starts now; a *reservation* is one that starts
 * later and stands until it comes due; *backfill* is what starts behind a
 * reservation without delaying it; a *recall* takes a workload back from its
 * nodes for another.
 *
 * A pass is a function of its snapshot: it asks Fluxion and returns decisions;
 * whoever calls it commits them. If it throws (`FLUXQ_FLUXION_IN_DOUBT`), what
 * Fluxion gave is not committed anywhere: the caller rebuilds Fluxion from the
 * queue's rows, forgets the reservations, and nothing is lost.
 */
import type { Allocation, Fluxion, GraphNode } from '../../fluxion/types';
import type { UnitSettings } from '../../jobspec/units';
import type { QueueSettings, WaitUpdate, WorkloadRow } from '../../queue/types';
import type { OutcomeOf } from './dependencies';
import { isEligible } from './eligibility';
import { type FairShare, shareFactors } from './fair-share';
import { inOrder } from './order';
import type { PassMemory } from './pass-cache';
import { Place } from './placement';
import type { Recall } from './preemptor';
import type { Reservation } from './reservations';
import { beginPass, type Pass } from './state';

/** What a pass needs of Fluxion. */
export type Matcher = Pick<Fluxion, 'match' | 'cancel' | 'satisfiable' | 'replay' | 'state'>;

export interface PassQueue {
  readonly settings: QueueSettings;
  /** All its rows that are not Finished: those that wait are decided, the others count against quota and limits. Any order. */
  readonly rows: readonly WorkloadRow[];
}

export interface PassInput {
  /** Unix seconds, whole. */
  readonly now: number;
  /** All share one graph, and one order. */
  readonly queues: readonly PassQueue[];
  /** Rows of queues that are not there. @default [] */
  readonly homeless?: readonly WorkloadRow[];
  readonly matcher: Matcher;
  /**
   * The last pass's, as long as they stand in Fluxion. Whoever rebuilds it, or cancels them, gives none: they are
   * made anew then, and may come later.
   */
  readonly reservations: readonly Reservation[];
  /** The last pass's. @default - nothing is remembered */
  readonly memory?: PassMemory | undefined;
  /**
   * Whether units may have been given back since the last pass, by whomever: a workload that ended or let go of
   * nodes, pods that are not ours, a rebuild. If not, what was refused is not asked again. @default true
   */
  readonly freed?: boolean;
  /**
   * The graph's nodes, to say why something can never start, and to spare Fluxion the question whether it can. The
   * same array as long as none of them changes.
   * @default - Fluxion's own text
   */
  readonly nodes?: readonly GraphNode[];
  /** Sizes of the units, for texts and quotas. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /**
   * Whether nodes were added, grew, or came up since the last pass that was not cut short (`more`): what was
   * unsatisfiable is then asked again. @default true
   */
  readonly graphGrew?: boolean;
  /** Asked before every match; true ends the pass with what it has decided so far. @default - never */
  readonly interrupted?: () => boolean;
  /** @default - off: priority, then submission */
  readonly fairShare?: FairShare;
  /** For dependencies. @default - nothing of any name was ever there */
  readonly outcomeOf?: OutcomeOf;
}

export interface PassResult {
  /** To commit (`Queue.allocate`); the allocation of a row that is not returned there has to be cancelled in Fluxion. */
  readonly grants: readonly { readonly uid: string; readonly allocation: Allocation }[];
  /** To commit (`Queue.wait`): only rows whose reason, message or estimate changed. */
  readonly waits: readonly WaitUpdate[];
  /** To commit before anything acts on it: workloads that have to leave their nodes and wait again. */
  readonly recalls: readonly Recall[];
  /** The next pass's `reservations`. */
  readonly reservations: readonly Reservation[];
  /** The next pass's `memory`. */
  readonly memory: PassMemory;
  /** Another pass would find more to do at once: the depth or an interruption cut this one short. */
  readonly more: boolean;
  /** Absolute second at which time alone changes something; undefined: never. */
  readonly nextAt: number | undefined;
  /** How often Fluxion was asked. */
  readonly matches: number;
}

/**
 * @throws FluxqError `FLUXQ_FLUXION_IN_DOUBT` if Fluxion has to be rebuilt
 */
export async function runPass(input: PassInput): Promise<PassResult> {
  const pass = beginPass(input);
  // 1. Who belongs to no queue waits until there is one.
  for (const row of input.homeless ?? []) sayHomeless(pass, row);
  // 2. Who may start at all, in one order over all queues.
  const waiting = input.queues.flatMap(({ rows }) => rows.filter(({ phase }) => phase === 'Waiting'));
  const eligible = waiting.filter((row) => isEligible(row, input, pass.waits));
  const ordered = inOrder(eligible, precedenceOf(pass));
  // 3. Reservations of those who may not, or on nodes that are gone, are given up; the others stand.
  const place = new Place(pass);
  await place.takeOver(input.reservations, ordered);
  // 4. One after the other.
  for (const row of ordered) if (!(await place.consider(row))) break;
  return resultOf(pass, waiting);
}

function sayHomeless({ waits }: Pass, row: WorkloadRow): void {
  if (row.phase !== 'Waiting') return;
  if (row.held) waits.markHeld(row);
  else waits.markHomeless(row);
}

function precedenceOf({ input, turns }: Pass) {
  return {
    now: input.now,
    settingsOf: (queue: string) => turns.get(queue)?.settings,
    shares: input.fairShare && shareFactors(input.fairShare, input.queues),
  };
}

function resultOf(pass: Pass, waiting: readonly WorkloadRow[]): PassResult {
  const { grants, waits, recalls, memory, more, matches } = pass;
  const reservations = pass.reservations.all();
  return {
    grants,
    waits: waits.updates,
    recalls,
    reservations,
    memory: { ...memory, overdue: new Map([...pass.overdue].filter(([uid]) => pass.reservations.of(uid))) },
    more: more || [...pass.turns.values()].some(({ cutShort }) => cutShort),
    nextAt: nextAt(pass.input.now, waiting, reservations),
    matches,
  };
}

function nextAt(
  now: number,
  waiting: readonly WorkloadRow[],
  reservations: readonly Reservation[],
): number | undefined {
  let next = Infinity;
  for (const { allocation } of reservations) next = Math.min(next, Math.max(allocation.start, now + 1));
  for (const { notBefore } of waiting)
    if (notBefore !== null && notBefore > now) next = Math.min(next, Math.ceil(notBefore));
  return next === Infinity ? undefined : next;
}
