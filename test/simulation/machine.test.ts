import { machineOf } from '../../runtime/simulation/machine';
import type { Trace, TraceJob } from '../../runtime/simulation/swf';

const job = (over: Partial<TraceJob>): TraceJob => ({
  number: 1,
  submittedAt: 0,
  waited: 0,
  runtime: 10,
  processors: 1,
  walltime: 10,
  user: '1',
  queue: '1',
  ...over,
});
const trace = (over: Partial<Trace> = {}, jobs: readonly TraceJob[] = [job({})]): Trace => ({
  jobs,
  unknown: 0,
  queues: [],
  ...over,
});

test.each([
  ['what is given', { maxNodes: 4, maxProcessors: 16 }, { nodes: 8, coresPerNode: 2 }, [8, 2]],
  ['the size that the trace tells', { maxNodes: 4, maxProcessors: 16 }, {}, [4, 4]],
  ['the cores of a node that the trace tells', { maxNodes: 4, maxProcessors: 16 }, { nodes: 8 }, [8, 4]],
  ['processors of nodes of another size', { maxNodes: 4, maxProcessors: 16 }, { coresPerNode: 5 }, [4, 5]],
  ['processors without nodes', { maxProcessors: 16 }, {}, [16, 1]],
  ['nodes without processors', { maxNodes: 4 }, { coresPerNode: 8 }, [4, 8]],
] as const)('takes %s', (_, told, given, [nodes, coresPerNode]) => {
  expect(machineOf(trace(told), given)).toEqual({ nodes, coresPerNode });
});

test('takes the most that was used at once, and says so', () => {
  const jobs = [
    job({ processors: 6 }),
    job({ submittedAt: 4, waited: 6, processors: 4 }),
    job({ submittedAt: 4, waited: 1, processors: 3 }),
  ];
  expect(machineOf(trace({}, jobs), { coresPerNode: 4 })).toEqual({
    nodes: 3,
    coresPerNode: 4,
    note: 'the trace does not tell the size of its machine: 3 nodes of 4 cores, the most that its jobs used at once; --nodes and --cores-per-node set another',
  });
});

test.each([
  [{ nodes: 8 }, [job({})], 'give --cores-per-node'],
  [{}, [{ ...job({}), waited: undefined } as unknown as TraceJob], 'give --nodes and --cores-per-node'],
  [{}, [], 'give --nodes and --cores-per-node'],
])('an unknown size has a remedy: %j', (given, jobs, remedy) => {
  expect(() => machineOf(trace({}, jobs), given)).toThrow(
    `FLUXQ_SIMULATION_SIZE: the trace does not tell the size of its machine; ${remedy}`,
  );
});
