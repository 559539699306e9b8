import { newRow } from '../../../runtime/queue/rows';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import type { Allocation } from '../../../runtime/resources/types';
import { RoomBounds } from '../../../runtime/scheduler/pass/room-bounds';
import { RulePlanner, type RuleRequest } from '../../../runtime/scheduler/pass/rule-planner';
import { WorkBudget } from '../../../runtime/scheduler/pass/work-budget';
import fc from '../../fast-check';
import { requestOf } from './requests';

const NOW = 100;
const CORES = 6;
const PODS = 3;
const NODES = ['a', 'b', 'c', 'd'].map((name) => ({
  name,
  up: name !== 'd',
  total: { core: CORES },
  free: { core: CORES },
  properties: [],
}));

interface Held {
  readonly node: number;
  readonly first: number;
  readonly cores: number;
  readonly start: number;
  readonly length: number;
}

const held: fc.Arbitrary<Held> = fc.record({
  node: fc.integer({ min: 0, max: 3 }),
  first: fc.integer({ min: 0, max: CORES - 1 }),
  cores: fc.integer({ min: 1, max: CORES }),
  start: fc.constantFrom(0, NOW, 110, 125, 140, 160),
  length: fc.constantFrom(20, 30, 90, 100, 105, 150),
});

const ask = fc.record({
  pods: fc.integer({ min: 1, max: 4 }),
  cpu: fc.integer({ min: 1, max: 4 }),
  walltime: fc.constantFrom(10, 30, 100),
  exclusive: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0),
});

function allocationOf({ node, first, cores, start, length }: Held, jobid: number): Allocation {
  const last = Math.min(CORES, first + cores) - 1;
  const units = { core: first === last ? `${first}` : `${first}-${last}` };
  return { jobid, start, end: start + length, nodes: [{ name: NODES[node]!.name, units }] };
}

function rowOf(jobid: number, over: Parameters<typeof requestOf>[0]): WorkloadRow {
  const submission = {
    uid: `${jobid}`,
    kind: 'Job',
    namespace: 'science',
    name: `${jobid}`,
    queue: 'q',
    priority: 0,
    submittedAt: 0,
    walltime: over.walltime,
    pods: over.pods,
    ...requestOf(over),
    held: false,
    user: 'ada',
    after: [],
    preemptible: false,
  };
  return newRow(submission, jobid);
}

type Asked = typeof ask extends fc.Arbitrary<infer T> ? T : never;

const requestFor = (jobid: number, asked: Asked): RuleRequest => {
  const row = rowOf(jobid, { ...asked, array: false, pod: undefined, labels: {} });
  return { row, rules: {}, jobid, jobspec: row.jobspec };
};

function plannerOf(jobs: readonly Allocation[]): RulePlanner {
  const row = rowOf(1, {
    pods: 1,
    cpu: 1,
    walltime: 10,
    exclusive: false,
    array: false,
    pod: undefined,
    labels: {},
  });
  const surroundings = {
    unmanaged: () => [],
    repelling: () => [],
    unmanagedOn: () => 0,
    traitsOf: () => ({ namespace: 'science', labels: {} }),
    amountsOf: () => ({ pods: PODS }),
  };
  return new RulePlanner({ nodes: NODES, jobs }, NOW, surroundings, {
    rowOf: () => row,
    allocationOf: () => undefined,
    hasStarted: () => true,
  });
}

/** What is found at each start, without and with bounds. */
function searched(planner: RulePlanner, request: RuleRequest, from: number) {
  const bounds = planner.boundsFor(request.row)!;
  return [from, ...planner.endsAfter(from)].map((start) => ({
    start,
    without: planner.allocate(request, start),
    within: bounds.allow(start) ? planner.allocate(request, start, new WorkBudget(), bounds) : undefined,
  }));
}

test('finds the same at every start as a look at all nodes and pods, while jobs come and go between searches', () => {
  let found = 0;
  let ruledOut = 0;
  fc.assert(
    fc.property(
      fc.array(held, { maxLength: 12 }),
      fc.array(
        fc.record({ asked: ask, from: fc.constantFrom(NOW, NOW, 130), gone: fc.nat(11), comes: held }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      (jobs, searches) => {
        const planner = plannerOf(jobs.map((job, i) => allocationOf(job, i + 10)));
        searches.forEach(({ asked, from, gone, comes }, i) => {
          for (const { start, without, within } of searched(planner, requestFor(5, asked), from)) {
            expect({ start, allocation: within }).toEqual({ start, allocation: without });
            if (without === undefined) ruledOut += 1;
            else found += 1;
          }
          planner.remove(gone + 10);
          planner.add(allocationOf(comes, 100 + i));
        });
      },
    ),
  );
  expect(Math.min(found, ruledOut)).toBeGreaterThan(100);
});

test('measures a node again only when something has ended there', () => {
  const ends = [120, 140, Infinity];
  const measured: string[] = [];
  const bounds = new RoomBounds(ends.length, 2, (place, start) => {
    measured.push(`${place} at ${start}`);
    return start < ends[place]! && place < 2
      ? { room: 0, until: ends[place]! }
      : { room: 1, until: Infinity };
  });
  expect([100, 110, 120, 130, 140, 150].map((start) => bounds.allow(start))).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
  expect(measured).toEqual(['0 at 100', '1 at 100', '2 at 100', '0 at 120', '1 at 140']);
});
