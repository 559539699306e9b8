/** Releases that the apiserver answers with an error, and those that nobody answers: what they hold, for how long, and what is said. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError, unreachable } from '../../runtime/kubernetes/errors';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { jobAdapter } from '../../runtime/workloads/job';
import { Release, type ReleaseOptions } from '../../runtime/workloads/release';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';

const REQUEST = 'PATCH jobs';
const answered = (status: number, message: string) => () => {
  throw apiError(status, JSON.stringify({ kind: 'Status', message, code: status }), undefined, REQUEST);
};
const WEBHOOK = 'Internal error occurred: failed calling webhook "rules.example.com": connection refused';
const FAILS = `the apiserver does not take the release: ${WEBHOOK}`;

/** A release whose write ends so, tried after so many more seconds each. */
async function releases(write: () => never, times: readonly number[], isWithdrawn = false) {
  const clock = new ManualClock();
  const events: string[] = [];
  const waits: (string | undefined)[] = [];
  const requeues: object[] = [];
  const invalid: object[] = [];
  const job = {
    metadata: { name: 'train', namespace: 'science', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { suspend: true, template: { spec: { containers: [] } } },
  } as unknown as Job;
  const row = rowIn('Ready', { uid: 'u', name: 'train', namespace: 'science' });
  const release = new Release({
    client: { patch: async () => write(), get: async () => job } as unknown as KubernetesClient,
    workloadCache: { wait: async (updates: readonly object[]) => invalid.push(...updates) },
    eviction: {
      recordRelease: () => undefined,
      requeue: async (_: unknown, why: object) => {
        requeues.push(why);
        return row;
      },
    },
    submissionBuilder: { asksForGrant: () => true },
    recordEvent: (_object: unknown, _adapter: unknown, event: { reason: string }) =>
      events.push(event.reason),
    isWithdrawn: () => isWithdrawn,
    onWait: (_uid: string, wait: { message: string } | undefined) => waits.push(wait?.message),
    logger: createLogger('test', 'silent'),
    clock,
    now: () => 0,
  } as unknown as ReleaseOptions);
  const results: unknown[] = [];
  for (const seconds of times) {
    clock.freeze(seconds * 1000);
    const tried = release.release({ object: job, adapter: jobAdapter, row, pods: [] });
    results.push(await tried.catch(({ code }: { code: string }) => code));
  }
  return { results, requeues, events, said: waits.at(-1), invalid };
}

test('a release at which a webhook fails gives its nodes back after a minute, and counts for the cluster', async () => {
  const { results, requeues, events, said, invalid } = await releases(answered(500, WEBHOOK), [0, 59, 2]);
  expect(results).toEqual([{ after: 2_000 }, { after: 2_000 }, undefined]);
  expect(requeues).toEqual([{ cause: 'cluster', message: FAILS }]);
  expect(said).toBe(`${FAILS}; it is tried again for a minute`);
  expect([events, invalid]).toEqual([['ReleaseFailed'], []]);
});

test('a release that is wrong is Invalid after a minute', async () => {
  const { requeues, events, invalid } = await releases(
    answered(422, 'Job.batch "train" is invalid: spec.template: field is immutable'),
    [0, 61],
  );
  expect(requeues).toEqual([expect.objectContaining({ cause: 'failure' })]);
  expect(events).toEqual(['ReleaseFailed', 'Invalid']);
  expect(invalid).toHaveLength(1);
});

test('a release before which its object changes each time gives its nodes back after a minute', async () => {
  const { results, requeues, invalid } = await releases(
    answered(409, 'the object has been modified'),
    [0, 59, 2],
  );
  expect(results).toEqual([{ after: 500 }, { after: 500 }, undefined]);
  const message = 'it has changed at each try to release it for a minute';
  expect([requeues, invalid]).toEqual([[{ cause: 'cluster', message }], []]);
});

test('a release that nobody answers is tried again for as long as that lasts', async () => {
  const silent = () => {
    throw unreachable(REQUEST, new Error('connection refused'));
  };
  const { results, requeues, said } = await releases(silent, [0, 61, 600]);
  expect(new Set(results)).toEqual(new Set(['FLUXQ_KUBERNETES_UNREACHABLE']));
  expect(requeues).toEqual([]);
  expect(said).toMatch(/; it is tried again until it does$/);
});

test('a grant that was withdrawn is given back, and nothing is written', async () => {
  const write = answered(500, 'nobody writes');
  const { results, requeues, said } = await releases(write, [0], true);
  expect(results).toEqual([{ after: 1 }]);
  const message = 'its nodes may be in use by a workload that the database did not know';
  expect(requeues).toEqual([{ cause: 'suspended', message }]);
  expect(said).toBeUndefined();
});
