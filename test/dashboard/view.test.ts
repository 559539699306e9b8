/** What the dashboard shows of a FluxJob and of a node. */
import { jobView, nodeView } from '../../runtime/dashboard/view';
import { at, ENDED, fluxJob, node, PLANNED, RESERVED, RUNNING } from './sample';

test('a running job holds units of its nodes', () => {
  expect(jobView(RUNNING)).toEqual({
    key: 'science/train-job',
    namespace: 'science',
    name: 'job/train',
    queue: 'default',
    phase: 'Running',
    reason: 'Granted',
    message: 'runs on node[0-1]',
    notes: [],
    created: at(-30),
    priority: 5,
    pods: 2,
    walltimeSeconds: 3600,
    started: at(-10),
    nodes: 'node[0-1]',
    shares: [
      { node: 'node0', cores: 4 },
      { node: 'node1', cores: 2.5, gpus: 1, exclusive: true },
    ],
  });
});

test('a waiting job has its place, its reason, its start and what was changed of its settings', () => {
  expect(jobView(RESERVED)).toMatchObject({
    position: 1,
    reason: 'Reserved',
    reserved: at(50),
    likely: at(20),
    shares: [],
  });
  expect(jobView(PLANNED)).toMatchObject({
    planned: at(60),
    notes: ['SettingsReduced: its walltime is cut to 1h'],
  });
});

test('a job that has ended holds nothing', () => {
  expect(jobView(ENDED)).toMatchObject({
    phase: 'Finished',
    result: 'Succeeded',
    ended: at(-20),
    shares: [],
  });
});

test('a job that no pass has seen waits, and says so', () => {
  expect(jobView(fluxJob('new', {}))).toMatchObject({ phase: 'Waiting', reason: 'Submitted' });
});

test('an allocation that is too large for a FluxJob is known by its nodes', () => {
  const wide = fluxJob('wide', { phase: 'Running', nodes: 'node[0-2]', nodeCount: 3 });
  expect(jobView(wide).shares).toEqual([{ node: 'node0' }, { node: 'node1' }, { node: 'node2' }]);
});

test('a FluxJob that does not tell the size of its units does not tell cores', () => {
  const { spec, status } = RUNNING;
  const old = fluxJob('old', status!, { ...spec, jobspec: '{"attributes":{}}' });
  expect(jobView(old).shares).toEqual([{ node: 'node0' }, { node: 'node1', gpus: 1, exclusive: true }]);
});

test('a hostlist that was cut shows the nodes before the cut', () => {
  const wide = fluxJob('wide', { phase: 'Running', nodes: 'node[0-2],…', nodeCount: 300 });
  expect(jobView(wide).shares.map(({ node }) => node)).toEqual(['node0', 'node1', 'node2']);
});

test.each([
  [{}, 'up'],
  [{ unschedulable: true }, 'drained'],
  [{ ready: false }, 'down'],
  [{ ready: false, unschedulable: true }, 'down'],
])('a node that is %j is %s', (state, expected) => {
  expect(nodeView(node('node0', state))).toEqual({ name: 'node0', cores: 7.8, gpus: 2, state: expected });
});
