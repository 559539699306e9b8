import type { JgfGraph } from '../../../runtime/fluxion/jgf/types';
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import type { Jobspec } from '../../../runtime/jobspec/types';
import type { Allocation, GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { toJgf } from '../to-jgf';
import { graphs, jobspecs, policies, steps } from './arbitraries';
import { type HeldJob, Player } from './player';

const RUNS = { numRuns: 150 };

function overlaps(a: HeldJob, b: HeldJob): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Vertices that two overlapping jobs hold: only one job may hold a vertex and the vertices below it. */
function doubleGrants(jobs: readonly HeldJob[]): string[] {
  const found: string[] = [];
  for (const [i, a] of jobs.entries()) {
    const paths = new Set(a.held);
    for (const b of jobs.slice(i + 1)) {
      if (!overlaps(a, b)) continue;
      for (const path of b.held) {
        const node = path.slice(0, path.lastIndexOf('/'));
        if (paths.has(path) || paths.has(node)) found.push(`${path} of jobs ${a.id} and ${b.id}`);
      }
    }
  }
  return found;
}

/**
 * Of jobs that hold a rack as one vertex, which the queue never asks for: their allocations name nodes, and like flux-sched the
 * matcher finds no later start of others behind them, because their cores are not counted as used.
 */
function giveRacksBack(player: Player): void {
  for (const { id, held } of [...player.held.values()])
    if (held.some((path) => path.split('/').at(-1)!.startsWith('rack='))) player.cancel(id);
}

function fits(nodes: readonly GraphNode[], policy: string, jobspec: Jobspec): boolean {
  const matcher = Matcher.fromNodes(nodes, { policy });
  return matcher.match({ jobid: 1, jobspec, operation: 'allocate', now: 0 }).status === 'OK';
}

test('grants no vertex to two jobs at the same time', () => {
  fc.assert(
    fc.property(graphs, policies, steps, (nodes, policy, plays) => {
      const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
      for (const step of plays) {
        player.play(step);
        expect(doubleGrants([...player.held.values()])).toEqual([]);
      }
    }),
    RUNS,
  );
});

test('frees exactly the vertices of the match in a cancel', () => {
  fc.assert(
    fc.property(graphs, policies, steps, jobspecs, (nodes, policy, plays, jobspec) => {
      const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
      for (const step of plays) player.play(step);
      const { matcher, now } = player;
      const before = matcher.state(now);
      matcher.match({ jobid: 1_000, jobspec, operation: 'allocate_orelse_reserve', now });
      matcher.cancel(1_000);
      expect(matcher.state(now)).toEqual(before);
      for (const { jobid } of before.jobs) matcher.cancel(jobid);
      for (const node of matcher.state(now).nodes) expect(node.free).toEqual(node.total);
    }),
    RUNS,
  );
});

test('answers like a new graph once all jobs are cancelled, under policies without history', () => {
  fc.assert(
    fc.property(
      graphs,
      fc.constantFrom('lonode', 'high', 'hinodex'),
      steps,
      jobspecs,
      (nodes, policy, plays, jobspec) => {
        const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
        for (const step of plays) if (step.do !== 'status') player.play(step);
        for (const id of [...player.held.keys()]) player.cancel(id);
        const call = {
          jobid: 1_000,
          jobspec,
          operation: 'allocate_orelse_reserve',
          now: player.now,
        } as const;
        expect(player.matcher.match(call)).toEqual(Matcher.fromNodes(nodes, { policy }).match(call));
      },
    ),
    RUNS,
  );
});

test('gives the same state and answers after a replay of all allocations', () => {
  fc.assert(
    fc.property(
      graphs,
      fc.constantFrom('lonode', 'low', 'hinodex'),
      steps,
      jobspecs,
      (nodes, policy, plays, next) => {
        const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
        for (const step of plays) if (step.do !== 'status') player.play(step);
        // A replay would turn reservations into allocations, so callers request them again.
        for (const { id, reserved } of [...player.held.values()]) if (reserved) player.cancel(id);
        giveRacksBack(player);
        const { matcher, now } = player;
        const state = matcher.state(now);
        const twin = Matcher.fromNodes(nodes, { policy });
        for (const allocation of state.jobs) twin.replay(allocation, now);
        expect(twin.state(now)).toEqual(state);
        for (const operation of ['without_allocating', 'without_allocating_future'] as const) {
          const call = { jobid: 1_000, jobspec: next, operation, now };
          expect(twin.match(call)).toEqual(matcher.match(call));
        }
      },
    ),
    RUNS,
  );
});

test('starts a reservation at the first time at which it fits', () => {
  fc.assert(
    fc.property(
      graphs,
      fc.constantFrom('first', 'lonode', 'high'),
      steps,
      jobspecs,
      (nodes, policy, plays, jobspec) => {
        const matcher = Matcher.fromNodes(nodes, { policy });
        const player = new Player(matcher, nodes.length);
        for (const step of plays) if (step.do === 'match' || step.do === 'cancel') player.play(step);
        giveRacksBack(player);
        const outcome = matcher.match({
          jobid: 1_000,
          jobspec,
          operation: 'without_allocating_future',
          now: 0,
        });
        const { duration } = jobspec.attributes.system;
        const jobs = matcher.state(0).jobs;
        const times = [0, ...jobs.flatMap(({ start, end }) => [start, end])].sort((a, b) => a - b);
        const last = outcome.status === 'OK' ? outcome.start : Number.POSITIVE_INFINITY;
        for (const at of new Set(times)) {
          if (at > last) break;
          // The graph with all jobs that overlap the new job from `at` on.
          const frozen = Matcher.fromNodes(nodes, { policy });
          const busy = jobs.filter(({ start, end }) => start < at + duration && end > at);
          const free = fitsBeside(frozen, busy, jobspec);
          expect({ at, free }).toEqual({ at, free: at === last });
        }
      },
    ),
    RUNS,
  );
});

/** Whether the request fits beside these jobs, as if all of them ran at the same time. */
function fitsBeside(matcher: Matcher, jobs: readonly Allocation[], jobspec: Jobspec): boolean {
  // Two jobs may hold a vertex one after the other, so each job gets its own part of a long window.
  const length = 10;
  const duration = length * (jobs.length + 1);
  jobs.forEach((job, i) => {
    matcher.replay({ ...job, start: length * i, end: length * (i + 1) }, 0);
  });
  const long = { ...jobspec, attributes: { system: { ...jobspec.attributes.system, duration } } };
  return matcher.match({ jobid: 2_000, jobspec: long, operation: 'allocate', now: 0 }).status === 'OK';
}

test('finds a request satisfiable if it fits the empty graph, whatever is busy or down', () => {
  fc.assert(
    fc.property(graphs, policies, steps, jobspecs, (nodes, policy, plays, jobspec) => {
      const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
      for (const step of plays) player.play(step);
      expect(player.matcher.satisfiable(jobspec).satisfiable).toBe(fits(nodes, policy, jobspec));
    }),
    RUNS,
  );
});

test('gives the same answers on the fast path as by traversal', () => {
  fc.assert(
    fc.property(graphs, policies, steps, (nodes, policy, plays) => {
      const short = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
      const full = new Player(Matcher.fromNodes(nodes, { policy, exhaustive: true }), nodes.length);
      for (const step of plays) expect(short.play(step)).toEqual(full.play(step));
    }),
    { numRuns: 400 },
  );
});

/** A graph with many equal scores: units numbered per node, few node ids, memory chunks of several sizes. */
function withCollisions(nodes: readonly GraphNode[]): JgfGraph {
  const { graph } = toJgf(nodes);
  const renumbered = graph.nodes.map(({ id, metadata }) => {
    const { type, name = '' } = metadata;
    const number = Number(/\d*$/.exec(name)![0]);
    const size = type === 'memory' ? 1 + (number % 3) : 1;
    return { id, metadata: { ...metadata, id: type === 'node' ? number % 3 : number, size } };
  });
  return { graph: { nodes: renumbered, edges: graph.edges } };
}

test('gives the same answers on the fast path as by traversal where scores are equal', () => {
  fc.assert(
    fc.property(graphs, policies, steps, (nodes, policy, plays) => {
      const jgf = withCollisions(nodes);
      const short = new Player(Matcher.fromJgf(jgf, { policy }), nodes.length);
      const full = new Player(Matcher.fromJgf(jgf, { policy, exhaustive: true }), nodes.length);
      for (const step of plays) expect(short.play(step)).toEqual(full.play(step));
      expect(short.matcher.state(short.now)).toEqual(full.matcher.state(full.now));
    }),
    { numRuns: 400 },
  );
});

describe('a graph from nodes, which counts units, answers like the graph of their JGF, with a vertex per unit', () => {
  /** The number of units is multiplied, so that free units become fragments of long runs. */
  const scaled = fc
    .tuple(graphs, fc.constantFrom(1, 1, 7))
    .map(([nodes, factor]) => nodes.map((node) => ({ ...node, units: times(node.units, factor) })));

  test.each([{ exhaustive: false }, { exhaustive: true }])('%p', (options) => {
    fc.assert(
      fc.property(scaled, policies, steps, (nodes, policy, plays) => {
        const direct = new Player(Matcher.fromNodes(nodes, { policy, ...options }), nodes.length);
        const jgf = JSON.stringify(toJgf(nodes));
        const read = new Player(Matcher.fromJgf(jgf, { policy, ...options }), nodes.length);
        for (const step of plays) {
          expect(direct.play(step)).toEqual(read.play(step));
          for (const id of direct.held.keys()) expect(direct.matcher.jgfOf(id)).toBe(read.matcher.jgfOf(id));
        }
        expect(direct.matcher.state(direct.now)).toEqual(read.matcher.state(read.now));
      }),
      RUNS,
    );
  });

  test('after a replay of fragments, and refuses the same replays', () => {
    fc.assert(
      fc.property(scaled, policies, steps, fc.nat(), (nodes, policy, plays, overlap) => {
        const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
        for (const step of plays) if (step.do !== 'status') player.play(step);
        const { jobs } = player.matcher.state(player.now);
        const twice = jobs.map((job, i) => (i === overlap % 7 ? { ...job, jobid: 500 + i } : job));
        const outcomes = [
          Matcher.fromNodes(nodes, { policy }),
          Matcher.fromJgf(toJgf(nodes), { policy }),
        ].map((matcher) => [
          ...[...jobs, ...twice].map((job) => replayed(matcher, job, player.now)),
          matcher.state(player.now),
        ]);
        expect(outcomes[0]).toEqual(outcomes[1]);
      }),
      RUNS,
    );
  });
});

function times(units: Readonly<Record<string, number>>, factor: number): Record<string, number> {
  return Object.fromEntries(Object.entries(units).map(([type, count]) => [type, count * factor]));
}

function replayed(matcher: Matcher, job: Allocation, now: number): string {
  try {
    matcher.replay(job, now);
    return 'OK';
  } catch (error) {
    return String(error);
  }
}

test('gives the same answers after clone, without shared state', () => {
  fc.assert(
    fc.property(graphs, policies, steps, steps, (nodes, policy, before, after) => {
      const player = new Player(Matcher.fromNodes(nodes, { policy }), nodes.length);
      for (const step of before) player.play(step);
      const state = player.matcher.state(player.now);
      const twin = new Player(player.matcher.clone(), nodes.length);
      twin.now = player.now;
      const other = new Player(player.matcher.clone(), nodes.length);
      other.now = player.now;
      for (const step of after.filter((step) => step.do === 'match')) {
        const renamed = { ...step, jobspec: step.jobspec };
        expect(other.play(renamed)).toEqual(twin.play(renamed));
      }
      expect(player.matcher.state(player.now)).toEqual(state);
    }),
    RUNS,
  );
});
