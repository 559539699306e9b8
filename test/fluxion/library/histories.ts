/** Random histories of matches, cancels, node changes and passing time, which two Fluxions must answer alike. */

import type { MatchPolicy } from '../../../constructs/api/policies';
import type { Fluxion, MatchOperation } from '../../../runtime/fluxion/types';
import type { Jobspec } from '../../../runtime/jobspec/types';
import type { Allocation, GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { cores, nodes, units, wholeNodes } from '../jobspecs';
import { operations } from '../matcher/arbitraries';
import { START } from '../scenarios/scenario';

type Action =
  | { readonly kind: 'match'; readonly jobspec: Jobspec; readonly operation: MatchOperation }
  | { readonly kind: 'cancel' | 'partialCancel'; readonly index: number }
  | { readonly kind: 'down' | 'up' | 'remove'; readonly index: number }
  | { readonly kind: 'add'; readonly node: Omit<GraphNode, 'name'> }
  | { readonly kind: 'pass'; readonly seconds: number }
  /** A new leader: with `warm`, the server may keep what it has. */
  | { readonly kind: 'restart'; readonly warm: boolean };

export interface History {
  readonly policy: MatchPolicy;
  /** Whether reservations are dropped when time moves, as in a scheduling pass. Else they are kept until their start. */
  readonly drops: boolean;
  readonly nodes: readonly Omit<GraphNode, 'name'>[];
  readonly actions: readonly Action[];
}

const aNode = fc.record({
  units: fc.record({ core: fc.integer({ min: 1, max: 5 }), memory: fc.integer({ min: 1, max: 3 }) }),
  properties: fc.subarray(['ssd', 'zone=a']),
});

const walltime = fc.integer({ min: 1, max: 60 });
const constraints = fc.constantFrom(undefined, { properties: ['ssd'] }, { properties: ['^ssd'] });
const aJobspec = fc
  .tuple(fc.nat(3), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), walltime, constraints)
  .map(([shape, large, small, seconds, constraint]) => {
    const options = { walltime: seconds, ...(constraint === undefined ? {} : { constraints: constraint }) };
    if (shape === 0) return cores(large, options);
    if (shape === 1) return nodes(small, Math.min(large, 3), options);
    return shape === 2 ? units({ core: large, memory: small }, options) : wholeNodes(small, options);
  });

const index = fc.nat(50);

export interface HistoryOptions {
  readonly policies: readonly MatchPolicy[];
  readonly node: fc.Arbitrary<Omit<GraphNode, 'name'>>;
  readonly jobspec: fc.Arbitrary<Jobspec>;
  /** Neither time nor the nodes change. @default false */
  readonly still?: boolean;
  /** Nodes that are added. @default - nodes like the others; `none`: no nodes are added */
  readonly added?: fc.Arbitrary<Omit<GraphNode, 'name'>> | 'none';
  /** Largest number of nodes at the start. @default 5 */
  readonly nodes?: number;
  /** Fluxion restarts. @default false */
  readonly restarts?: boolean;
}

export function historiesOf({
  policies,
  node,
  jobspec,
  still = false,
  added = node,
  nodes: mostNodes = 5,
  restarts = false,
}: HistoryOptions): fc.Arbitrary<History> {
  const requests = [
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant('match' as const), jobspec, operation: operations }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), index }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('down' as const, 'up' as const), index }) },
  ];
  const changes = [
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('partialCancel' as const), index }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), index }) },
    ...(restarts
      ? [{ weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), warm: fc.boolean() }) }]
      : []),
    ...(added === 'none'
      ? []
      : [{ weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), node: added }) }]),
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
    },
  ];
  return fc.record({
    policy: fc.constantFrom(...policies),
    drops: fc.boolean(),
    nodes: fc.array(node, { minLength: 1, maxLength: mostNodes, size: 'max' }),
    actions: fc.array<Action>(fc.oneof(...requests, ...(still ? [] : changes)), {
      minLength: 5,
      maxLength: 40,
      size: 'max',
    }),
  });
}

/** Only policies whose answers do not depend on history: a rebase resets the weights of the first* policies. */
export const histories = historiesOf({
  policies: ['lonode', 'hinode', 'low', 'high', 'lonodex'],
  node: aNode,
  jobspec: aJobspec,
});

/** The answers of one Fluxion to a history. */
export async function answers(fluxion: Fluxion, history: History): Promise<unknown[]> {
  const player = new HistoryPlayer(fluxion, history);
  await player.init();
  const collected: unknown[] = [];
  for (const action of history.actions) collected.push(await player.run(action));
  const { jobs, nodes: left } = await fluxion.state();
  return [...collected, [...jobs].sort((a, b) => a.jobid - b.jobid), left];
}

interface Held {
  readonly allocation: Allocation;
  readonly reserved: boolean;
}

class HistoryPlayer {
  private now = START;
  private jobid = 0;
  private nodes: GraphNode[];
  private nodesCreated: number;
  private readonly held = new Map<number, Held>();

  constructor(
    private readonly fluxion: Fluxion,
    private readonly history: History,
  ) {
    this.nodes = history.nodes.map((node, i) => ({ ...node, name: `n${i}` }));
    this.nodesCreated = this.nodes.length;
  }

  async init(warm = false): Promise<void> {
    await this.fluxion.init({ nodes: this.nodes, policy: this.history.policy, now: this.now, warm });
  }

  async run(action: Action): Promise<unknown> {
    if (action.kind === 'match') return this.match(action.jobspec, action.operation);
    if (action.kind === 'pass') return this.pass(action.seconds);
    if (action.kind === 'restart') return this.restart(action.warm);
    if (action.kind === 'add') return this.add(action.node);
    if (action.kind === 'cancel' || action.kind === 'partialCancel') return this.end(action);
    const node = this.nodes[action.index % Math.max(this.nodes.length, 1)];
    if (node === undefined) return undefined;
    if (action.kind !== 'remove') return this.setStatus(node, action.kind === 'up');
    this.nodes.splice(this.nodes.indexOf(node), 1);
    return [...(await this.fluxion.removeNodes([node.name]))].sort((a, b) => a - b);
  }

  private async match(jobspec: Jobspec, operation: MatchOperation): Promise<unknown> {
    const jobid = ++this.jobid;
    const result = await this.fluxion.match({ jobid, jobspec, operation, now: this.now });
    if (result.status !== 'OK') return result.status;
    const { allocation, reserved } = result;
    if (!operation.startsWith('without_')) this.held.set(jobid, { allocation, reserved });
    return { allocation, reserved };
  }

  private async setStatus(node: GraphNode, up: boolean): Promise<void> {
    this.nodes = this.nodes.map((one) => (one === node ? { ...node, up } : one));
    await this.fluxion.setStatus([node.name], up);
  }

  private async end({
    kind,
    index: at,
  }: Extract<Action, { kind: 'cancel' | 'partialCancel' }>): Promise<unknown> {
    const jobid = [...this.held.keys()][at % Math.max(this.held.size, 1)];
    if (jobid === undefined) return undefined;
    const [first] = this.held.get(jobid)!.allocation.nodes;
    if (kind === 'partialCancel') return this.fluxion.partialCancel(jobid, first ? [first.name] : []);
    return this.cancel(jobid);
  }

  private async cancel(jobid: number): Promise<void> {
    this.held.delete(jobid);
    await this.fluxion.cancel(jobid);
  }

  private async pass(seconds: number): Promise<void> {
    this.now += seconds;
    await this.dropReservations(this.history.drops ? Number.POSITIVE_INFINITY : this.now);
  }

  /** Drops those that start at this time or before. */
  private async dropReservations(until: number): Promise<void> {
    for (const [jobid, { allocation, reserved }] of this.held)
      if (reserved && allocation.start <= until) await this.cancel(jobid);
  }

  private async restart(warm: boolean): Promise<void> {
    await this.dropReservations(Number.POSITIVE_INFINITY);
    const { jobs } = await this.fluxion.state();
    await this.init(warm);
    await this.fluxion.replay(
      [...jobs].sort((a, b) => a.jobid - b.jobid),
      this.now,
    );
  }

  private async add(node: Omit<GraphNode, 'name'>): Promise<void> {
    const added = { ...node, name: `n${this.nodesCreated++}` };
    this.nodes.push(added);
    await this.fluxion.addNodes([added]);
  }
}
