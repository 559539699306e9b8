/** What the FluxJobs of a deep queue show, while their own rows do not change. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { SimulatedController } from '../fuzz/simulated-controller';

let controller: SimulatedController;

beforeEach(async () => {
  controller = new SimulatedController();
  await controller.start();
});
afterEach(() => controller.close());

const shownOf = (name: string) =>
  controller.apiserver.store.get<FluxJobObject>('fluxjobs', `science/${name}-job`)?.status;

test('the position of one far behind the front follows those that start', async () => {
  for (let i = 0; i < 180; i++) controller.submit(`job-${i}`, { cores: 1, runs: 20 });
  await controller.seconds(60);
  const first = shownOf('job-179')?.position;
  expect(first).toBeGreaterThan(150);
  await controller.seconds(120);
  const waiting = controller.queue.all.filter(({ phase }) => phase === 'Waiting').length;
  expect(waiting).toBeGreaterThan(100);
  expect(waiting).toBeLessThan(first! * 0.8);
  expect(shownOf('job-179')?.position).toBeLessThanOrEqual(waiting * 1.2);
});

test('a planned start is shown behind a hundred that cannot start', async () => {
  for (let i = 0; i < 110; i++) controller.submit(`wide-${i}`, { cores: 100 });
  await controller.seconds(5);
  for (const name of ['run-0', 'run-1', 'next', 'last']) controller.submit(name, { runs: 300 });
  await controller.seconds(60);
  expect(controller.row('wide-0')).toMatchObject({ phase: 'Waiting', reason: 'Unsatisfiable' });
  expect(shownOf('next')).toMatchObject({ position: 111, estimatedStart: expect.any(String) });
  expect(shownOf('last')).toMatchObject({ position: 112, plannedStart: expect.any(String) });
});
