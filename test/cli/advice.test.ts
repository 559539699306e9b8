/** What `why` says to do helps: after it the workload runs. */
import { scheduled } from '../../runtime/fluxjobs/reading';
import { arranged, SITUATIONS } from './why/situations';
import { MINE, type World } from './why/world';

type Annotations = Readonly<Record<string, string | undefined>>;

function annotate(world: World, annotations: Annotations): void {
  world.edit(MINE, (job) => {
    const all = { ...job.metadata.annotations, ...annotations };
    const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return { ...job, metadata: { ...job.metadata, annotations: kept as Record<string, string> } };
  });
}

test.each<[string, string, (world: World) => void]>([
  ['its user holds it', 'released', (world) => annotate(world, { 'fluxqueue/hold': undefined })],
  [
    'it has no pods',
    'given one',
    (world) => world.edit(MINE, (job) => ({ ...job, spec: { ...job.spec, parallelism: 1, completions: 1 } })),
  ],
  [
    'the one that it waits for has failed',
    'freed of the dependency',
    (world) => annotate(world, { 'fluxqueue/after': undefined }),
  ],
  [
    'it asks for more cores than any node has',
    'given a larger node',
    (world) => world.node('node-0', { allocatable: { cpu: '32' } }),
  ],
  [
    'it does not tolerate the taints of the nodes',
    'given a node without taints',
    (world) => world.node('node-0', { spec: { taints: [] } }),
  ],
  ['its queue does not exist', 'given its FluxSetup', (world) => world.queue('wrong', {})],
  [
    'its queue does not exist',
    'moved to another queue',
    (world) => annotate(world, { 'fluxqueue/queue': undefined }),
  ],
  [
    'a cause of its own kept it from running too often',
    'changed, without that cause',
    (world) => {
      world.allowAll();
      annotate(world, { 'fluxqueue/priority': '1' });
    },
  ],
  [
    'a node that it needs is cordoned',
    'given its node again',
    (world) => world.node('node-1', { spec: { unschedulable: false } }),
  ],
])('a workload that waits because %s starts when it is %s', async (because, _, change) => {
  const world = await arranged(SITUATIONS.find((situation) => situation.because === because)!);
  expect(world.fluxJob().status?.phase).toBe('Waiting');
  change(world);
  await world.settle();
  const { reason } = scheduled(world.fluxJob());
  await world.controller.close();
  expect(reason).toBe('Running');
});

test('a workload that asks for more than its quota starts in another queue', async () => {
  const world = await arranged(
    SITUATIONS.find(({ because }) => because === 'it asks for more than the quota of its queue')!,
  );
  world.queue('large', {});
  annotate(world, { 'fluxqueue/queue': 'large' });
  await world.settle();
  const lines = world.why();
  await world.controller.close();
  expect(lines[0]).toBe('science/job/mine runs on node-[0-1]');
});
