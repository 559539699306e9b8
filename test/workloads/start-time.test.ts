/** A Job that has run and is suspended, where Kubernetes keeps its start time or removes it itself; test/stack/requeues-older.test.ts has the cluster. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { jobAdapter } from '../../runtime/workloads/job';
import { resetStartTime } from '../../runtime/workloads/start-time';
import { rowIn } from '../queue/rows';

const TIME = '2026-01-01T00:00:00Z';
const PATCH = [
  { op: 'test', path: '/metadata/uid', value: 'u' },
  { op: 'test', path: '/spec/suspend', value: true },
  { op: 'remove', path: '/status/startTime' },
];

/** What is written of a Job with this status. */
async function writesOf(status: object, answer: () => object = () => ({ metadata: {} })) {
  const writes: unknown[] = [];
  const client = {
    patch: async (...[path, body]: readonly unknown[]) => {
      writes.push([path, body]);
      return answer();
    },
    get: async () => ({ metadata: { uid: 'u' } }),
  } as unknown as KubernetesClient;
  const object = {
    metadata: { name: 'solve', namespace: 'science', uid: 'u' },
    spec: { suspend: true, template: { spec: {} } },
    status,
  } as unknown as Job;
  const row = rowIn('Running', { uid: 'u', name: 'solve', namespace: 'science' });
  const logger = createLogger('test', 'silent');
  await resetStartTime({ client, logger }, { object, adapter: jobAdapter as never, row });
  return writes;
}

const seen = (status: string) => [{ type: 'Suspended', status, lastTransitionTime: TIME }];
const KEPT = { startTime: TIME, conditions: seen('True') };

test('a start time that Kubernetes keeps is removed', async () => {
  expect(await writesOf(KEPT)).toEqual([['/apis/batch/v1/namespaces/science/jobs/solve/status', PATCH]]);
});

test.each([
  ['the Job controller has not seen the suspension yet', { startTime: TIME }],
  ['the Job controller still says that the Job runs', { startTime: TIME, conditions: seen('False') }],
  ['there is none', { conditions: seen('True') }],
])('nothing is written while %s', async (_, status) => {
  expect(await writesOf(status)).toEqual([]);
});

const refusedWith =
  (status: number, message = 'no') =>
  () => {
    const reason = status === 404 ? 'NotFound' : '';
    throw new ApiError({ status, reason, message, about: 'a', retryAfterSeconds: undefined });
  };

test.each([
  ['has changed', refusedWith(409)],
  ['is gone', refusedWith(404)],
  ['runs again', refusedWith(422, 'the server rejected our request due to an error in our request')],
])('a Job that %s meanwhile is left to the next look', async (_, answer) => {
  await expect(writesOf(KEPT, answer)).resolves.toHaveLength(1);
});

test.each([403, 422, 500])('an answer %d is for the caller', async (status) => {
  await expect(writesOf(KEPT, refusedWith(status))).rejects.toThrow('no');
});
