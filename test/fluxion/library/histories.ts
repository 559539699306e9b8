/** Random histories of matches, cancels, node changes and passing time, which two Fluxions must answer alike. */

import type { MatchPolicy } from '../../../constructs/api/policies';
import type { Fluxion, MatchOperation } from '../../../runtime/fluxion/types';
import type { Jobspec } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { cores, nodes, units, wholeNodes } from '../jobspecs';
import { operations } from '../matcher/arbitraries';
import { START } from '../scenarios/scenario';

type Action =
  | { readonly kind: 'match'; readonly jobspec: Jobspec; readonly operation: MatchOperation }
  | { readonly kind: 'cancel' | 'partialCancel'; readonly index: number }
  | { readonly kind: 'down' | 'up' | 'remove'; readonly index: number }
  | { readonly kind: 'add'; readonly node: Omit<GraphNode, 'name'> }
  | { readonly kind: 'pass'; readonly seconds: number };

export interface History {
  readonly policy: MatchPolicy;
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
  /** Nodes are added. @default true */
  readonly grows?: boolean;
}

export function historiesOf({
  policies,
  node,
  jobspec,
  still = false,
  grows = true,
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
    ...(grows ? [{ weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), node }) }] : []),
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
    },
  ];
  return fc.record({
    policy: fc.constantFrom(...policies),
    nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
    actions: fc.array<Action>(fc.oneof(...requests, ...(still ? [] : changes)), {
      minLength: 5,
      maxLength: 40,
    }),
  });
}

/** Only policies whose answers do not depend on history: a rebase resets the weights of the first* policies. */
export const histories = historiesOf({
  policies: ['lonode', 'hinode', 'low', 'high', 'lonodex'],
  node: aNode,
  jobspec: aJobspec,
});

/** The answers of one Fluxion to a history. Reservations are dropped before time moves, as in a scheduling pass. */
export async function answers(
  fluxion: Fluxion,
  { policy, nodes: first, actions }: History,
): Promise<unknown[]> {
  const player = new HistoryPlayer(fluxion, first.length);
  await fluxion.init({ nodes: first.map((node, i) => ({ ...node, name: `n${i}` })), policy, now: START });
  const collected: unknown[] = [];
  for (const action of actions) collected.push(await player.run(action));
  const { jobs, nodes: left } = await fluxion.state();
  return [...collected, [...jobs].sort((a, b) => a.jobid - b.jobid), left];
}

class HistoryPlayer {
  private now = START;
  private jobid = 0;
  private readonly names: string[];
  private readonly held = new Map<number, { nodes: readonly string[]; reserved: boolean }>();
  private nodesCreated: number;

  constructor(
    private readonly fluxion: Fluxion,
    count: number,
  ) {
    this.nodesCreated = count;
    this.names = Array.from({ length: count }, (_, i) => `n${i}`);
  }

  async run(action: Action): Promise<unknown> {
    if (action.kind === 'match') return this.match(action.jobspec, action.operation);
    if (action.kind === 'pass') return this.pass(action.seconds);
    if (action.kind === 'add') return this.add(action.node);
    if (action.kind === 'cancel' || action.kind === 'partialCancel') return this.end(action);
    const name = this.names[action.index % Math.max(this.names.length, 1)];
    if (name === undefined) return undefined;
    if (action.kind !== 'remove') return this.fluxion.setStatus([name], action.kind === 'up');
    this.names.splice(this.names.indexOf(name), 1);
    // The scheduler repeats its reservations after a node was removed, so their rest does not matter.
    await this.dropReservations();
    return [...(await this.fluxion.removeNodes([name]))].sort((a, b) => a - b);
  }

  private async match(jobspec: Jobspec, operation: MatchOperation): Promise<unknown> {
    const jobid = ++this.jobid;
    const result = await this.fluxion.match({ jobid, jobspec, operation, now: this.now });
    if (result.status !== 'OK') return result.status;
    const { allocation, reserved } = result;
    if (!operation.startsWith('without_')) {
      this.held.set(jobid, { nodes: allocation.nodes.map(({ name }) => name), reserved });
    }
    return { allocation, reserved };
  }

  private async end({
    kind,
    index: at,
  }: Extract<Action, { kind: 'cancel' | 'partialCancel' }>): Promise<unknown> {
    const jobid = [...this.held.keys()][at % Math.max(this.held.size, 1)];
    if (jobid === undefined) return undefined;
    const { nodes: on, reserved } = this.held.get(jobid)!;
    if (kind === 'partialCancel' && !reserved) return this.fluxion.partialCancel(jobid, on.slice(0, 1));
    this.held.delete(jobid);
    return this.fluxion.cancel(jobid);
  }

  private async pass(seconds: number): Promise<void> {
    await this.dropReservations();
    this.now += seconds;
  }

  private async dropReservations(): Promise<void> {
    for (const [jobid, { reserved }] of this.held) {
      if (!reserved) continue;
      this.held.delete(jobid);
      await this.fluxion.cancel(jobid);
    }
  }

  private async add(node: Omit<GraphNode, 'name'>): Promise<void> {
    const name = `n${this.nodesCreated++}`;
    this.names.push(name);
    await this.fluxion.addNodes([{ ...node, name }]);
  }
}
