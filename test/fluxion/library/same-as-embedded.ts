/** Random histories that two Fluxions must answer alike: matches, ends, node changes, time. */
import fc from 'fast-check';
import type { MatchPolicy } from '../../../constructs/api/policies';
import type { Fluxion, MatchOperation } from '../../../runtime/fluxion/types';
import type { Jobspec } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import { cores, nodes, units, wholeNodes } from '../jobspecs';
import { START } from '../scenarios';

type Act =
  | { readonly kind: 'match'; readonly jobspec: Jobspec; readonly operation: MatchOperation }
  | { readonly kind: 'cancel' | 'partialCancel'; readonly which: number }
  | { readonly kind: 'down' | 'up' | 'remove'; readonly which: number }
  | { readonly kind: 'add'; readonly node: Omit<GraphNode, 'name'> }
  | { readonly kind: 'pass'; readonly seconds: number };

export interface History {
  readonly policy: MatchPolicy;
  readonly nodes: readonly Omit<GraphNode, 'name'>[];
  readonly acts: readonly Act[];
}

const aNode = fc.record({
  units: fc.record({ core: fc.integer({ min: 1, max: 5 }), memory: fc.integer({ min: 1, max: 3 }) }),
  properties: fc.subarray(['ssd', 'zone=a']),
});

const walltime = fc.integer({ min: 1, max: 60 });
const constraints = fc.constantFrom(undefined, { properties: ['ssd'] }, { properties: ['^ssd'] });
const aJobspec = fc
  .tuple(fc.nat(3), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), walltime, constraints)
  .map(([shape, many, few, seconds, constraint]) => {
    const options = { walltime: seconds, ...(constraint === undefined ? {} : { constraints: constraint }) };
    if (shape === 0) return cores(many, options);
    if (shape === 1) return nodes(few, Math.min(many, 3), options);
    return shape === 2 ? units({ core: many, memory: few }, options) : wholeNodes(few, options);
  });

const operations: MatchOperation[] = [
  'allocate',
  'allocate_with_satisfiability',
  'allocate_orelse_reserve',
  'allocate_orelse_reserve',
  'without_allocating',
  'without_allocating_future',
];
const which = fc.nat(50);
const anAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('match' as const),
      jobspec: aJobspec,
      operation: fc.constantFrom(...operations),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'partialCancel' as const), which }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('down' as const, 'up' as const, 'remove' as const), which }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('add' as const), node: aNode }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
  },
);

/** Policies whose answers don't depend on what was there before: a rebase makes the first* ones forget. */
export const histories: fc.Arbitrary<History> = fc.record({
  policy: fc.constantFrom<MatchPolicy>('lonode', 'hinode', 'low', 'high', 'lonodex'),
  nodes: fc.array(aNode, { minLength: 1, maxLength: 5 }),
  acts: fc.array(anAct, { minLength: 5, maxLength: 40 }),
});

/** The answers of one Fluxion to a history; reservations are dropped before time moves, as a queue does. */
export async function answers(fluxion: Fluxion, { policy, nodes: first, acts }: History): Promise<unknown[]> {
  const play = new Play(fluxion, first.length);
  await fluxion.init({ nodes: first.map((node, i) => ({ ...node, name: `n${i}` })), policy, now: START });
  const heard: unknown[] = [];
  for (const act of acts) heard.push(await play.take(act));
  const { jobs, nodes: left } = await fluxion.state();
  return [...heard, [...jobs].sort((a, b) => a.jobid - b.jobid), left];
}

class Play {
  private now = START;
  private jobid = 0;
  private readonly names: string[];
  private readonly held = new Map<number, { nodes: readonly string[]; reserved: boolean }>();
  private born: number;

  constructor(
    private readonly fluxion: Fluxion,
    count: number,
  ) {
    this.born = count;
    this.names = Array.from({ length: count }, (_, i) => `n${i}`);
  }

  async take(act: Act): Promise<unknown> {
    if (act.kind === 'match') return this.match(act.jobspec, act.operation);
    if (act.kind === 'pass') return this.pass(act.seconds);
    if (act.kind === 'add') return this.add(act.node);
    if (act.kind === 'cancel' || act.kind === 'partialCancel') return this.end(act);
    const name = this.names[act.which % Math.max(this.names.length, 1)];
    if (name === undefined) return undefined;
    if (act.kind !== 'remove') return this.fluxion.setStatus([name], act.kind === 'up');
    this.names.splice(this.names.indexOf(name), 1);
    // A reservation on a node that goes is made anew by the queue: nobody relies on what is left of it.
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
    which: at,
  }: Extract<Act, { kind: 'cancel' | 'partialCancel' }>): Promise<unknown> {
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
    const name = `n${this.born++}`;
    this.names.push(name);
    await this.fluxion.addNodes([{ ...node, name }]);
  }
}
