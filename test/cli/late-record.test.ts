import { whyNoRecord } from '../../runtime/cli/late-record';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';

const CREATED = '2026-01-01T00:00:00Z';
const metadata = {
  name: 'train',
  namespace: 'a',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: CREATED,
};

/** @param answer entries of its history, or the refusal of the read API */
function problemOf(answer: readonly object[] | readonly [number, string], seconds: number) {
  const get = async (path: string) => {
    const [status, message] = answer;
    if (typeof status !== 'number') return { entries: answer };
    throw apiError(status, JSON.stringify({ message }), undefined, path);
  };
  const client = { get } as unknown as KubernetesClient;
  return whyNoRecord(client, { metadata }, 'job/train', Date.parse(CREATED) + seconds * 1000);
}

const DATABASE = 'FLUXQ_DATABASE_DOWN: database.url: the database does not answer: connect ECONNREFUSED';

test.each<[string, readonly object[] | readonly [number, string], number, string]>([
  [
    'the database does not answer',
    [503, DATABASE],
    9,
    'job/train has no FluxJob yet, because the database of the queue does not answer: until then nothing new joins the queue, and nothing starts',
  ],
  [
    'the read API does not answer',
    [503, 'service unavailable'],
    9,
    'job/train has no FluxJob yet, and the read API of the queue does not answer either: its database or its controller may be down',
  ],
  [
    'nothing is known of it after minutes',
    [],
    300,
    'job/train has no FluxJob, 5m after its creation: the controller of the queue may be down',
  ],
  ['it is in the queue', [{ event: 'Submitted' }], 300, 'job/train has no FluxJob yet'],
  ['it was created a moment ago', [], 9, 'job/train has no FluxJob yet'],
])('a workload without a FluxJob is told the true reason where %s', async (_, answer, seconds, problem) => {
  expect(await problemOf(answer, seconds)).toMatchObject({ problem });
});
