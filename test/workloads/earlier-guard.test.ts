/** While a version replaces another, the guard of the earlier one is there still: it refuses a field that a release writes now. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { apiError } from '../../runtime/kubernetes/errors';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { jobAdapter } from '../../runtime/workloads/job';
import { Release, type ReleaseOptions } from '../../runtime/workloads/release';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';

const GUARD =
  'FLUXQ_RESERVED: spec: a release changes only suspend, activeDeadlineSeconds and the assignment in the template';
const OTHERS = 'admission webhook "rules.example.com" denied the request: the change is frozen';

type Operation = { readonly path: string };

async function release(refusal: string) {
  const sent: (readonly Operation[])[] = [];
  const released: string[] = [];
  const writesPolicy = (body: readonly Operation[]) =>
    body.some(({ path }) => path === '/spec/podReplacementPolicy');
  const client = {
    patch: async (_path: string, body: readonly Operation[]) => {
      sent.push(body);
      const answer = JSON.stringify({ kind: 'Status', message: refusal, code: 422 });
      if (refusal === OTHERS || writesPolicy(body)) throw apiError(422, answer, undefined, 'PATCH jobs');
      return { metadata: { generation: 2 } };
    },
    get: async () => ({ metadata: { uid: 'u' } }),
  } as unknown as KubernetesClient;
  const job = {
    metadata: { name: 'train', namespace: 'science', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { suspend: true, template: { spec: { containers: [] } } },
  } as unknown as Job;
  const options = {
    client,
    workloadCache: { released: async (uid: string) => released.push(uid) },
    eviction: { recordRelease: () => undefined },
    submissionBuilder: { asksForGrant: () => true },
    recordEvent: () => undefined,
    isWithdrawn: () => false,
    onWait: () => undefined,
    logger: createLogger('test', 'silent'),
    clock: new ManualClock(),
    now: () => 0,
  } as unknown as ReleaseOptions;
  const row = rowIn('Ready', { uid: 'u', name: 'train', namespace: 'science' });
  const result = await new Release(options).release({ object: job, adapter: jobAdapter, row, pods: [] });
  return { result, released, wrote: sent.map(writesPolicy) };
}

test('a release that the guard of an earlier version refuses is sent again as that version sends it', async () => {
  expect(await release(GUARD)).toEqual({ result: undefined, released: ['u'], wrote: [true, false] });
});

test('a release that somebody else refuses is not sent again at once', async () => {
  expect(await release(OTHERS)).toEqual({ result: { after: 2_000 }, released: [], wrote: [true] });
});
