import { countQueues, EMPTY } from '../../runtime/fluxsetups/queue-counts';
import { rowIn } from '../queue/rows';

const UNITS = { cpuMillis: 500, memoryMiB: 512 };
const onNodes = (...nodes: { name: string; units: Record<string, string> }[]) => ({
  allocation: { jobid: 7, start: 0, end: 60, nodes },
});

test('counts workloads by phase and the resources that they hold, per queue', () => {
  const rows = [
    rowIn('Waiting', { queue: 'a' }),
    rowIn('Waiting', { queue: 'a' }),
    rowIn('Ready', { queue: 'a', pods: 2, ...onNodes({ name: 'n1', units: { core: '0-3', memory: '0' } }) }),
    rowIn('Running', {
      queue: 'a',
      pods: 3,
      ...onNodes(
        { name: 'n1', units: { core: '4', memory: '1-2', gpu: '0' } },
        { name: 'n2', units: { core: '0', rdma_hca: '0-9' } },
      ),
    }),
    rowIn('Waiting', { queue: 'b' }),
  ];
  const counted = countQueues(rows, UNITS);
  expect(counted.get('a')).toEqual({
    waiting: 2,
    ready: 1,
    running: 1,
    usage: { jobs: 2, pods: 5, cores: 3, memoryGiB: 1.5, gpus: 1, nodes: 2 },
  });
  expect(counted.get('b')).toEqual({ ...EMPTY, waiting: 1 });
  expect(counted.get('c')).toBeUndefined();
});

test('counts what a workload uses beyond its grant as the quota is charged for it', () => {
  const units = { core: '0-1', memory: '0' };
  const row = rowIn('Running', { uid: 'more', queue: 'a', pods: 1, ...onNodes({ name: 'n1', units }) });
  const surpluses = new Map([['more', { pods: 1, units: { core: 2, memory: 1 } }]]);
  const { usage } = countQueues([row], UNITS, surpluses).get('a')!;
  expect(usage).toEqual({ jobs: 1, pods: 2, cores: 2, memoryGiB: 1, gpus: 0, nodes: 1 });
});
