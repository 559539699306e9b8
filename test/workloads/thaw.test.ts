/** A Job that has run and is suspended, where Kubernetes keeps its start time or removes it itself; test/stack/requeues-older.test.ts has the cluster. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Job } from '../../runtime/kubernetes/types';
import { jobAdapter } from '../../runtime/workloads/job';
import { isReleasable } from '../../runtime/workloads/thaw';
import { rowIn } from '../queue/rows';

const TIME = '2026-01-01T00:00:00Z';
const PATCH = [
  { op: 'test', path: '/metadata/uid', value: 'u' },
  { op: 'test', path: '/spec/suspend', value: true },
  { op: 'remove', path: '/status/startTime' },
];

/** What is written of a Job with this status, and whether it can be released now. */
async function thawed(status: object) {
  const writes: unknown[] = [];
  const client = {
    patch: async (...[path, body]: readonly unknown[]) => {
      writes.push([path, body]);
      return { metadata: {} };
    },
  } as unknown as KubernetesClient;
  const object = {
    metadata: { name: 'solve', namespace: 'science', uid: 'u' },
    spec: { suspend: true, template: { spec: {} } },
    status,
  } as unknown as Job;
  const row = rowIn('Running', { uid: 'u', name: 'solve', namespace: 'science' });
  const can = await isReleasable(client, { object, adapter: jobAdapter as never, row });
  return { can, writes };
}

const seen = (status: string) => [{ type: 'Suspended', status, lastTransitionTime: TIME }];

test('a start time that the Job controller keeps is removed, and the watch shows then that the Job can be released', async () => {
  const { can, writes } = await thawed({ startTime: TIME, conditions: seen('True') });
  expect(can).toBe(false);
  expect(writes).toEqual([['/apis/batch/v1/namespaces/science/jobs/solve/status', PATCH]]);
});

test.each([
  ['has not seen the suspension yet', { startTime: TIME }],
  ['still says that the Job runs', { startTime: TIME, conditions: seen('False') }],
])('nothing is written while the Job controller %s', async (_, status) => {
  expect(await thawed(status)).toEqual({ can: false, writes: [] });
});

test('nothing is written where the Job controller has removed it', async () => {
  expect(await thawed({ conditions: seen('True') })).toEqual({ can: true, writes: [] });
});
