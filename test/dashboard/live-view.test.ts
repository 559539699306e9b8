/** What a view of the cluster opens, and whom it tells what. */
import { LiveView } from '../../runtime/dashboard/live-view';
import type { Changes } from '../../runtime/dashboard/messages';
import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { apiError } from '../../runtime/kubernetes/errors';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';
import { NOW, RESERVED, RUNNING } from './sample';

let clock: ManualClock;
let listed: () => Promise<void>;
let watches: ((event: WatchEvent<FluxJobObject>) => void)[];
/** Ends the latest watch of FluxJobs. */
let breakOff: (error: Error) => void;
let view: LiveView;

const client = {
  async list(path: string) {
    await listed();
    return { metadata: { resourceVersion: '1' }, items: path.endsWith('fluxjobs') ? [RUNNING] : [] };
  },
  watch(
    path: string,
    { signal }: { signal: AbortSignal },
    onEvent: (event: WatchEvent<FluxJobObject>) => void,
  ) {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => resolve('closed'));
      if (!path.endsWith('fluxjobs')) return;
      watches.push(onEvent);
      breakOff = reject;
    });
  },
} as unknown as KubernetesClient;

beforeEach(() => {
  clock = new ManualClock();
  listed = () => Promise.resolve();
  watches = [];
  const wall = () => NOW + clock.now();
  view = new LiveView({ client, clock, wall, logger: recordingLogger(), namespace: 'science' });
});
afterEach(() => view.stop());

test('who comes is told all there is once, and then what changes, gathered', async () => {
  await view.start();
  const told: Changes[] = [];
  view.listen((changes) => told.push(changes));
  await clock.advance(1_000);
  expect(told.map(({ jobs }) => jobs.map(({ key }) => key))).toEqual([['science/train-job']]);
  const version = (resourceVersion: string) => ({ ...RESERVED.metadata, resourceVersion });
  watches[0]!({ type: 'ADDED', object: { ...RESERVED, metadata: version('2') } });
  watches[0]!({
    type: 'MODIFIED',
    object: { ...RESERVED, metadata: version('3'), status: { phase: 'Ready' } },
  });
  await clock.advance(200);
  expect(told).toHaveLength(2);
  expect(told[1]!.jobs).toMatchObject([{ key: 'science/wide-job', phase: 'Ready' }]);
});

test('who comes later is told the changes before, and two are told the same message', async () => {
  await view.start();
  watches[0]!({
    type: 'DELETED',
    object: { ...RUNNING, metadata: { ...RUNNING.metadata, resourceVersion: '2' } },
  });
  const told: Changes[] = [];
  view.listen((changes) => told.push(changes));
  view.listen((changes) => told.push(changes));
  expect(told[0]).toMatchObject({ jobs: [], namespace: 'science' });
  expect(told[1]).toBe(told[0]);
});

test('says that it hears nothing, since when, and when it hears again, though nothing has changed', async () => {
  await view.start();
  const told: Changes[] = [];
  view.listen((changes) => told.push(changes));
  await clock.advance(3_000);
  watches[0]!({ type: 'BOOKMARK', object: RUNNING });
  await clock.advance(60_000);
  const refused = apiError(401, 'Unauthorized', undefined, 'GET /fluxjobs');
  listed = () => Promise.reject(refused);
  breakOff(refused);
  await clock.advance(300);
  const trouble = {
    message: `The queue cannot be read now: ${refused.message}.`,
    since: new Date(NOW + 3_000).toISOString(),
  };
  expect(told.slice(1)).toEqual([{ jobs: [], goneJobs: [], nodes: [], goneNodes: [], trouble }]);
  const later: Changes[] = [];
  view.listen((changes) => later.push(changes));
  expect(later).toMatchObject([{ jobs: [{ key: 'science/train-job' }], trouble }]);

  listed = () => Promise.resolve();
  await clock.advance(60_000);
  expect(told.at(-1)).toEqual({ jobs: [], goneJobs: [], nodes: [], goneNodes: [] });
  expect(later.at(-1)).toBe(told.at(-1));
});

test('a view that is stopped before it has started watches nothing', async () => {
  const answered = Promise.withResolvers<void>();
  listed = () => answered.promise;
  const starting = view.start();
  view.stop();
  answered.resolve();
  await starting;
  await settle();
  expect(watches).toEqual([]);
});
