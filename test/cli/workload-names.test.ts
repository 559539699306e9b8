import { ADMITTED_LABEL } from '../../constructs/api/labels';
import { findFluxJob, parseAnyWorkload } from '../../runtime/cli/workload-names';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';

test.each([
  ['train', ['Job', 'Pod'], 'train', undefined],
  ['job/train', ['Job'], 'train', undefined],
  ['Pods/train', ['Pod'], 'train', undefined],
  ['mc/train', ['Job'], 'train', undefined],
  ['science/train', ['Job', 'Pod'], 'train', 'science'],
])('%s', (text, kinds, name, namespace) => {
  const parsed = parseAnyWorkload(text);
  expect(parsed.kinds.map(({ kind }) => kind)).toEqual(kinds);
  expect([parsed.name, parsed.namespace]).toEqual([name, namespace]);
});

test.each(['/train', 'science/', 'a/b/c', 'job/'])('%s is refused', (text) => {
  expect(() => parseAnyWorkload(text)).toThrow('FLUXQ_WORKLOAD_NAME');
});

const COMPLETE = { conditions: [{ type: 'Complete', status: 'True' }] };
const ADMITTED = { [ADMITTED_LABEL]: 'true' };

test.each<[string, object | undefined, RegExp]>([
  ['a success of the queue', { metadata: { labels: ADMITTED }, status: COMPLETE }, /succeeded soon/],
  [
    'a Job that waits or runs',
    { metadata: { labels: ADMITTED }, status: {} },
    /job\/train has no FluxJob yet .*within a minute if many others of namespace a .*history train/,
  ],
  [
    'a success outside the queue',
    { metadata: {}, status: COMPLETE },
    /no FluxJob in namespace a is about it/,
  ],
  ['no Job at all', undefined, /no FluxJob in namespace a is about it/],
])('without a FluxJob, %s is told by its true reason', async (_, job, message) => {
  const get = async (path: string) => {
    if (job !== undefined && path.endsWith('/jobs/train')) return job;
    if (path.endsWith('/namespaces/a')) return { metadata: { labels: { 'fluxqueue/enabled': 'true' } } };
    throw apiError(404, 'not found', undefined, path);
  };
  await expect(findFluxJob({ get } as unknown as KubernetesClient, 'a', 'train')).rejects.toThrow(message);
});
