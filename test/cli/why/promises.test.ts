/** What is promised behind a workload follows the end that Kubernetes enforces for it. */
import type { Job } from '../../../runtime/kubernetes/types';
import { toldEnd } from '../../../runtime/resources/told-end';
import { World } from './world';

const SCHEDULED = { conditions: [{ type: 'PodScheduled', status: 'True' as const }] };
const RUNNING = (startedAt: string) => ({
  phase: 'Running' as const,
  ...SCHEDULED,
  containerStatuses: [{ name: 'main', state: { running: { startedAt } } }],
});

/** The told end of `mine`, and the promised start of `next`. */
async function times(arrange: (world: World) => Promise<void>) {
  const world = await World.start();
  world.removeNode('node-1');
  await world.grantedJob({ cores: 4 });
  world.job('next', { cores: 4 });
  await arrange(world);
  await world.settle();
  const end = new Date(toldEnd(world.fluxJob('mine'))!).toISOString();
  const start = world.fluxJob('next').status?.estimatedStart;
  await world.close();
  return { end, start };
}

test('a first container that starts late moves the promise behind it', async () => {
  const late = async (world: World) => {
    world.report(SCHEDULED, 'node-0');
    await world.seconds(40);
    world.report(RUNNING('2027-01-15T08:00:46Z'), 'node-0');
  };
  expect(await times(late)).toEqual({ end: '2027-01-15T09:00:46.000Z', start: '2027-01-15T09:00:46Z' });
});

test('a deadline that its user lowers brings the promise behind it forward', async () => {
  const lowered = async (world: World) => {
    world.report(RUNNING('2027-01-15T08:00:07Z'), 'node-0');
    await world.seconds(3);
    world.edit('mine', (job: Job) => ({ ...job, spec: { ...job.spec, activeDeadlineSeconds: 900 } }));
  };
  expect(await times(lowered)).toEqual({ end: '2027-01-15T08:15:00.000Z', start: '2027-01-15T08:15:00Z' });
});
