/** The apiserver refuses a FluxJob: for a moment, as after its start, or because the namespace goes. */
import { apiError } from '../../runtime/kubernetes/errors';
import { Scene } from './scene';

const refusal = (status: number, message: string) =>
  apiError(status, JSON.stringify({ reason: 'Forbidden', message }), undefined, 'POST');

/** The end of a workload whose FluxJob the apiserver refuses for this long. @param seconds of the refusal */
async function refusedFor(seconds: number, error: Error): Promise<Scene> {
  const scene = new Scene('All');
  scene.busy = false;
  scene.refusal = error;
  scene.change('a', 'Finished', { result: 'Failed', finishedAt: scene.now });
  await scene.clock.advance(seconds * 1000);
  scene.refusal = undefined;
  return scene;
}

test('one that is refused for a moment is written after that', async () => {
  const scene = await refusedFor(30, refusal(403, 'fluxjobs is forbidden: RBAC: clusterrole not found'));
  expect(scene.finals).toBe(0);
  await scene.clock.advance(120_000);
  expect(scene.said).toEqual(['create Finished']);
  expect(scene.finals).toBe(1);
});

test('the row of one that a quota refuses is forgotten after ten minutes', async () => {
  const scene = await refusedFor(1_000, refusal(403, 'exceeded quota: count/fluxjobs'));
  expect(scene.said).toEqual([]);
  expect(scene.finals).toBe(1);
});

test.each([
  [403, 'unable to create new content in namespace science because it is being terminated'],
  [404, 'namespaces "science" not found'],
])('the row of one whose namespace goes is forgotten at once: %d', async (status, message) => {
  expect((await refusedFor(5, refusal(status, message))).finals).toBe(1);
});

test('one whose name the FluxJob of an earlier workload had is made once the garbage collector has deleted that', async () => {
  const scene = new Scene('All');
  scene.busy = false;
  scene.other = 'earlier';
  scene.change('a', 'Waiting');
  await scene.clock.advance(5_000);
  expect(scene.said).toEqual(['create Waiting']);
});
