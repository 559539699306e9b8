/**
 * Words of this folder: a *pass* is one run over everything that waits; a
 * *grant* is an allocation that starts now; a workload *blocks* when it is the
 * first of its queue that has to wait; *backfill* is what starts behind it
 * without delaying it.
 *
 * A pass is a function of its snapshot: it asks Fluxion and returns decisions;
 * whoever calls it commits them. If it throws (`FLUXQ_FLUXION_IN_DOUBT`), what
 * Fluxion gave is not committed anywhere: the caller rebuilds Fluxion from the
 * queue's rows, and nothing is lost.
 */
import { FluxqError } from '../errors';
import type { Allocation, Fluxion, GraphNode, MatchOperation, MatchResult } from '../fluxion/types';
import { type Capacity, capacityOf } from '../jobspec/capacity';
import type { Jobspec } from '../jobspec/types';
import { DEFAULT_UNITS, type UnitSettings } from '../jobspec/units';
import type { QueuePolicy, WaitReason, WaitUpdate, WorkloadRow } from '../queue/types';
import { inOrder } from './order';
import { type Refusals, refusals } from './refusals';
import { Waits } from './waits';

/** What a pass needs of Fluxion. */
export type Matcher = Pick<Fluxion, 'match' | 'cancel' | 'satisfiable'>;

/** How many of the blocked get a reservation. */
const RESERVATIONS: Readonly<Record<QueuePolicy, number>> = {
  fcfs: 0,
  easy: 1,
  conservative: Infinity,
  hybrid: 8,
};

export interface PassQueue {
  readonly name: string;
  readonly policy: QueuePolicy;
  /** How many workloads are asked about at most in one pass. */
  readonly depth: number;
  /** Its rows; those that are not Waiting are passed over. Any order. */
  readonly rows: readonly WorkloadRow[];
}

export interface PassInput {
  /** Unix seconds. */
  readonly now: number;
  /** All share one graph; they are served in the order of their names. */
  readonly queues: readonly PassQueue[];
  readonly matcher: Matcher;
  /** Job ids of the last pass's reservations: they are made anew. */
  readonly reservations: readonly number[];
  /**
   * The graph's nodes, to say why something can never start, and to spare Fluxion the question whether it can.
   * @default - Fluxion's own text
   */
  readonly nodes?: readonly GraphNode[];
  /** Sizes of the units, for texts. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /**
   * Whether nodes were added, grew, or came up since the last pass that was not cut short (`more`): what was
   * unsatisfiable is then asked again. @default true
   */
  readonly graphGrew?: boolean;
  /** Asked before every match; true ends the pass with what it has decided so far. @default - never */
  readonly interrupted?: () => boolean;
}

export interface PassResult {
  /** To commit (`Queue.allocate`); the allocation of a row that is not returned there has to be cancelled in Fluxion. */
  readonly grants: readonly { readonly uid: string; readonly allocation: Allocation }[];
  /** To commit (`Queue.wait`): only rows whose reason, message or estimate changed. */
  readonly waits: readonly WaitUpdate[];
  /** Job ids of the reservations made: the next pass's `reservations`. */
  readonly reservations: readonly number[];
  /** Another pass would find more to do at once: the depth or an interruption cut this one short. */
  readonly more: boolean;
  /** How often Fluxion was asked. */
  readonly matches: number;
}

/** Waits for something a pass does not decide; whoever does, puts it back to Submitted. */
const NOT_ELIGIBLE: ReadonlySet<WaitReason | null> = new Set<WaitReason>([
  'Invalid',
  'QuotaExceeded',
  'DependencyPending',
  'NoFluxSetup',
]);

/** State of one pass: what it has decided, and what it has learnt. */
interface Pass {
  readonly input: PassInput;
  readonly grants: { uid: string; allocation: Allocation }[];
  readonly waits: Waits;
  readonly reservations: number[];
  /** Does not fit now. */
  readonly busy: Refusals;
  /** Can't be planned either. */
  readonly unplannable: Refusals;
  /** Needs nodes that are down. */
  readonly down: Refusals;
  /** Never fits these nodes. */
  readonly never: Refusals;
  /** All nodes; made when it is first needed. */
  capacity: Capacity | undefined;
  /** The nodes that are up, if some are not. */
  readonly upCapacity: Capacity | undefined;
  more: boolean;
  matches: number;
}

/**
 * @throws FluxqError `FLUXQ_FLUXION_IN_DOUBT` if Fluxion has to be rebuilt
 */
export async function runPass(input: PassInput): Promise<PassResult> {
  // 1. Give up the last pass's reservations.
  for (const jobid of input.reservations) {
    await input.matcher.cancel(jobid);
  }
  const pass = begin(input);
  // 2. One queue after the other; what one is refused, the next needn't ask for.
  for (const queue of [...input.queues].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    await serve(pass, queue);
  }
  const { grants, waits, reservations, more, matches } = pass;
  return { grants, waits: waits.updates, reservations, more, matches };
}

function begin(input: PassInput): Pass {
  return {
    input,
    grants: [],
    waits: new Waits(input.nodes, input.units ?? DEFAULT_UNITS),
    reservations: [],
    busy: refusals(true),
    unplannable: refusals(true),
    down: refusals(false),
    never: refusals(false),
    capacity: undefined,
    upCapacity: capacityUp(input.nodes ?? []),
    more: false,
    matches: 0,
  };
}

/** What is left to give out in one queue. */
interface Turn {
  readonly policy: QueuePolicy;
  asksLeft: number;
  reservationsLeft: number;
  granted: boolean;
}

async function serve(pass: Pass, { policy, depth, rows }: PassQueue): Promise<void> {
  const turn: Turn = { policy, asksLeft: depth, reservationsLeft: RESERVATIONS[policy], granted: false };
  // 3. Order: priority, then submission, then arrival.
  const ordered = inOrder(rows.filter(({ phase }) => phase === 'Waiting'));
  for (const [i, row] of ordered.entries()) {
    // 4. Pass over what can't start whatever is free.
    if (!eligible(pass, row)) {
      continue;
    }
    // 5. Pass over what was refused already.
    if (refusedBefore(pass, turn, row)) {
      continue;
    }
    // 6. Stop at the queue's depth, or when something more urgent has come.
    if (pass.input.interrupted?.() === true) {
      pass.more = true;
      return;
    }
    if (turn.asksLeft === 0) {
      leaveRest(pass, turn, ordered.slice(i));
      return;
    }
    // 7. Ask Fluxion.
    const blocks = await ask(pass, turn, row);
    // 8. First come, first served: the head of the line blocks the rest.
    if (blocks) {
      behind(pass, ordered.slice(i + 1));
      return;
    }
  }
}

function eligible(pass: Pass, row: WorkloadRow): boolean {
  if (row.held) {
    pass.waits.markHeld(row);
    return false;
  }
  const stillTooLarge = row.reason === 'Unsatisfiable' && pass.input.graphGrew === false;
  return !stillTooLarge && !NOT_ELIGIBLE.has(row.reason);
}

/** The depth cut the queue short. If it started something, the next pass goes on from there at once. */
function leaveRest(pass: Pass, turn: Turn, rest: readonly WorkloadRow[]): void {
  if (turn.granted) {
    pass.more = true;
  } else {
    behind(pass, rest);
  }
}

function behind(pass: Pass, rest: readonly WorkloadRow[]): void {
  for (const row of rest) {
    if (eligible(pass, row)) {
      pass.waits.markBehind(row);
    }
  }
}

/**
 * While the queue may still reserve, only what can't be planned at all is
 * passed over: a workload that another queue was refused has a right to its
 * reservation here.
 */
function refusedBefore(pass: Pass, turn: Turn, row: WorkloadRow): boolean {
  if (pass.never.covers(row.jobspec)) {
    pass.waits.markUnsatisfiable(row, 'larger than one that can never start');
    return true;
  }
  if (waitsForNodes(pass, row)) {
    pass.waits.markDown(row);
    return true;
  }
  // The head of a fcfs queue has to be asked about, or it would not block.
  const known = turn.reservationsLeft > 0 ? pass.unplannable : pass.busy;
  if (turn.policy === 'fcfs' || !known.covers(row.jobspec)) {
    return false;
  }
  pass.waits.markBusy(row);
  return true;
}

/** Nobody knows when nodes that are down come back: what needs them blocks nothing, and nothing is reserved for it. */
function waitsForNodes(pass: Pass, { jobspec }: WorkloadRow): boolean {
  if (pass.down.covers(jobspec)) {
    return true;
  }
  return pass.upCapacity?.fits(jobspec) === false && fitsAll(pass, jobspec);
}

function fitsAll(pass: Pass, jobspec: Jobspec): boolean {
  pass.capacity ??= capacityOf(pass.input.nodes ?? []);
  return pass.capacity.fits(jobspec);
}

function capacityUp(nodes: readonly GraphNode[]): Capacity | undefined {
  const up = nodes.filter((node) => node.up !== false);
  return up.length === nodes.length ? undefined : capacityOf(up);
}

/** @returns whether what comes behind this row has to wait for it */
async function ask(pass: Pass, turn: Turn, row: WorkloadRow): Promise<boolean> {
  const { matcher, now } = pass.input;
  const { jobid, jobspec } = row;
  const operation = operationFor(pass, turn, row);
  turn.asksLeft -= 1;
  pass.matches += 1;
  const answer = await matcher.match({ jobid, jobspec, operation, now });
  switch (answer.status) {
    case 'OK':
      take(pass, turn, row, answer);
      return false;
    case 'BUSY':
      refuse(pass, turn, row);
      pass.waits.markBusy(row);
      return turn.policy === 'fcfs';
    case 'UNSATISFIABLE':
      await refuseForGood(pass, row, answer.text);
      return false;
    case 'INVALID':
      pass.waits.markInvalid(row, answer.text);
      return false;
    case 'NOT_READY':
      throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `Fluxion has no graph: ${answer.text}`, {
        remedy: 'init and replay, then go on',
        retryable: true,
      });
  }
}

/** Plain allocate says busy to the impossible too: only for what fits the cluster, but then Fluxion answers far sooner. */
function operationFor(pass: Pass, turn: Turn, { jobspec }: WorkloadRow): MatchOperation {
  if (turn.reservationsLeft > 0) {
    return 'allocate_orelse_reserve';
  }
  return fitsAll(pass, jobspec) ? 'allocate' : 'allocate_with_satisfiability';
}

function take(pass: Pass, turn: Turn, row: WorkloadRow, answer: MatchResult & { status: 'OK' }): void {
  const { allocation, reserved } = answer;
  if (reserved) {
    turn.reservationsLeft -= 1;
    pass.reservations.push(row.jobid);
    pass.busy.add(row.jobspec);
    pass.waits.markReserved(row, allocation.start);
  } else {
    turn.granted = true;
    pass.grants.push({ uid: row.uid, allocation });
  }
}

function refuse(pass: Pass, turn: Turn, row: WorkloadRow): void {
  pass.busy.add(row.jobspec);
  if (turn.reservationsLeft > 0) {
    pass.unplannable.add(row.jobspec);
  }
}

/** With nodes down, Fluxion says unsatisfiable to a request for more nodes than are up, though it fits the cluster. */
async function refuseForGood(pass: Pass, row: WorkloadRow, text: string): Promise<void> {
  const { satisfiable } = await pass.input.matcher.satisfiable(row.jobspec);
  if (satisfiable) {
    pass.down.add(row.jobspec);
    pass.waits.markDown(row);
  } else {
    pass.never.add(row.jobspec);
    pass.waits.markUnsatisfiable(row, text);
  }
}
