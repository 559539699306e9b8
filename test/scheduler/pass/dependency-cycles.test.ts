import { NEVER_MET } from '../../../runtime/scheduler/pass/dependencies';
import { DependencyCycles } from '../../../runtime/scheduler/pass/dependency-cycles';
import fc from '../../fast-check';
import { nodesOf, Simulation } from './simulation';

type Node = ReturnType<ConstructorParameters<typeof DependencyCycles>[0]>[number];

const waiting = (name: string, after: readonly string[], over: Partial<Node> = {}): Node => ({
  uid: over.namespace === undefined ? name : `${over.namespace}-${name}`,
  namespace: 'science',
  name,
  submittedAt: 0,
  seq: 0,
  jobid: 0,
  phase: 'Waiting',
  isAfterMet: false,
  reason: null,
  message: null,
  after: after.map((target) => ({ type: 'afterok', name: target })),
  ...over,
});

const textsOf = (...rows: readonly Node[]) => {
  const cycles = new DependencyCycles(() => rows);
  return rows.map((row) => cycles.textOf(row));
};

test('each workload of a cycle names one that it waits for and that waits for it', () => {
  expect(
    textsOf(waiting('a', ['x', 'b']), waiting('b', ['c']), waiting('c', ['a']), waiting('d', ['a'])),
  ).toEqual([
    'waits for b, which waits for a in turn; change fluxqueue/after of one of them',
    'waits for c, which waits for b in turn; change fluxqueue/after of one of them',
    'waits for a, which waits for c in turn; change fluxqueue/after of one of them',
    undefined,
  ]);
  expect(textsOf(waiting('a', ['b', 'a']))).toEqual(['waits for itself; change its fluxqueue/after']);
});

test.each<[string, readonly Node[]]>([
  ['a chain', [waiting('a', ['b']), waiting('b', ['c']), waiting('c', [])]],
  ['two ways to one workload', [waiting('a', ['b', 'c']), waiting('b', ['c']), waiting('c', ['x'])]],
  [
    'the same name in another namespace',
    [waiting('a', ['b']), waiting('b', ['a'], { namespace: 'other' }), waiting('b', [])],
  ],
  ['one that has met its dependencies', [waiting('a', ['b']), waiting('b', ['a'], { isAfterMet: true })]],
  ['one that runs', [waiting('a', ['b']), waiting('b', ['a'], { phase: 'Running' })]],
  [
    'an older workload of the same name',
    [waiting('a', ['b']), waiting('b', ['a'], { uid: 'old' }), waiting('b', [], { seq: 1 })],
  ],
])('%s is no cycle', (_, rows) => {
  expect(textsOf(...rows).filter((text) => text !== undefined)).toEqual([]);
});

test('a workload is in a cycle if it can be reached from itself, and never starts if it reaches a cycle', () => {
  const graph = fc.array(fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 3 }), { maxLength: 8 });
  fc.assert(
    fc.property(graph, (edges) => {
      const rows = edges.map((targets, i) =>
        waiting(
          `n${i}`,
          targets.map((to) => `n${to}`),
        ),
      );
      const reachable = (from: number) => {
        const found = new Set<number>();
        const visit = (at: number) => {
          for (const to of edges[at] ?? []) if (!found.has(to)) visit(found.add(to) && to);
        };
        visit(from);
        return found;
      };
      expect(textsOf(...rows).map((text) => text !== undefined)).toEqual(
        edges.map((_, i) => reachable(i).has(i)),
      );
      const cycles = new DependencyCycles(() => rows);
      expect(rows.map(({ name }) => cycles.neverStarts('science', name))).toEqual(
        edges.map((_, i) => [i, ...reachable(i)].some((at) => reachable(at).has(at))),
      );
    }),
  );
});

test('a pass says that a cycle never starts, until a user breaks it', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  sim.submit('first', { after: [{ type: 'afterok', name: 'second' }] });
  sim.submit('second', { after: [{ type: 'afterok', name: 'first' }] });
  const outcomeOf = (_: string, name: string) => sim.row(name)?.result ?? ('active' as const);
  await sim.pass({ outcomeOf });
  expect(sim.row('first')).toMatchObject({
    reason: 'DependencyPending',
    message: `${NEVER_MET}waits for second, which waits for first in turn; change fluxqueue/after of one of them`,
  });
  sim.change('second', { after: [] });
  await sim.pass({ outcomeOf });
  expect(sim.row('first').message).toBe('waits for second to succeed');
  expect(sim.started.map(({ uid }) => uid)).toEqual(['second']);
});

test('a pass says of all that wait for one that can never start that they cannot either', async () => {
  const sim = await Simulation.of(nodesOf(2, 1));
  sim.queue('small', { quota: { jobs: 0 } });
  const chain = (name: string, after: string) =>
    sim.submit(name, { after: [{ type: 'afterany', name: after }] });
  // The last of the chain is judged first.
  chain('c5', 'c4');
  chain('c4', 'c2');
  sim.submit('c2', { after: [{ type: 'afterok', name: 'c1' }] });
  chain('big2', 'big');
  sim.submit('big', { queue: 'small' });
  chain('free2', 'free');
  sim.submit('free');
  const outcomeOf = (_: string, name: string) => (name === 'c1' ? ('Failed' as const) : ('active' as const));
  await sim.pass({ outcomeOf });
  await sim.pass({ outcomeOf });
  const said = (name: string) => sim.row(name).message;
  expect(said('c2')).toBe(`${NEVER_MET}waits for c1 to succeed, which has failed`);
  expect(said('c4')).toBe(`${NEVER_MET}waits for c2 to end, which can never start`);
  expect(said('c5')).toBe(`${NEVER_MET}waits for c4 to end, which can never start`);
  expect(said('big')).toContain(NEVER_MET);
  expect(said('big2')).toBe(`${NEVER_MET}waits for big to end, which can never start`);
  expect(said('free2')).toBe('waits for free to end');
  sim.change('c2', { after: [] });
  await sim.pass({ outcomeOf });
  expect([said('c4'), said('c5')]).toEqual(['waits for c2 to end', 'waits for c4 to end']);
});

test('more dependencies than a pass may search are not searched', () => {
  const ring = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      waiting(
        `n${i}`,
        Array.from({ length: 100 }, (_each, k) => `n${(i + k + 1) % count}`),
      ),
    );
  const found = (rows: readonly Node[]) => textsOf(...rows).filter((text) => text !== undefined).length;
  expect(found(ring(1000))).toBe(1000);
  expect(found(ring(1001))).toBe(0);
});
