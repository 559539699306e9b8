import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { Allocation } from '../../runtime/resources/types';
import { parkedDeadline } from '../../runtime/workloads/deadlines';
import { followEnd, latestEnd } from '../../runtime/workloads/granted-end';
import { rowIn } from '../queue/rows';

const GRANTED = Date.parse('2026-01-01T00:00:00Z') / 1000;
const at = (seconds: number) => new Date((GRANTED + seconds) * 1000).toISOString();

const row = (changes: Partial<WorkloadRow> = {}) => {
  const started = rowIn('Running', { jobid: 7, startedAt: GRANTED + 2, walltime: 3600 });
  const allocation: Allocation = { ...started.allocation!, jobid: 7, start: GRANTED, end: GRANTED + 3600 };
  return { ...started, allocation, ...changes };
};
const job = (spec: object = {}, metadata: object = {}) =>
  ({
    metadata: { name: 'train', namespace: 'science', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { activeDeadlineSeconds: 7200, ...spec },
    status: { startTime: at(1) },
  }) as unknown as KubernetesObject;

test.each<[string, KubernetesObject, WorkloadRow, number | undefined]>([
  ['by its walltime, although its deadline allows for a late start', job(), row(), 3602],
  ['by a deadline that its user has lowered', job({ activeDeadlineSeconds: 60 }), row(), 61],
  ['by its walltime after a late start', job(), row({ startedAt: GRANTED + 30 }), 3630],
  ['by its deadline after a very late start', job(), row({ startedAt: GRANTED + 4000 }), 7201],
  [
    'by its walltime where Kubernetes enforces nothing',
    job({ activeDeadlineSeconds: undefined }),
    row(),
    3602,
  ],
  ['at no known time before it has started', job(), row({ startedAt: null }), undefined],
  ['at no known time while it is suspended', job({ suspend: true }), row(), undefined],
  ['at no known time while it is evicted', job(), row({ evictionReason: 'preempted' }), undefined],
  ['at no known time while it is deleted', job({}, { deletionTimestamp: at(9) }), row(), undefined],
  ['at no known time while it shows no grant', job({ ...parkedDeadline(job() as never) }), row(), undefined],
])('ends at the latest %s', (_, object, of, end) => {
  expect(latestEnd({ object, row: of })).toBe(end === undefined ? undefined : GRANTED + end);
});

test.each([
  ['moves with a deadline that its user has lowered', { activeDeadlineSeconds: 60 }, GRANTED + 61],
  ['stays for seconds: each move costs a write', { activeDeadlineSeconds: 3597 }, undefined],
])('the end of an allocation %s', async (_, spec, end) => {
  const written: Allocation[] = [];
  const seen: string[] = [];
  const shrink = async (_uid: string, allocation: Allocation) => void written.push(allocation);
  const options = {
    workloadCache: { shrink: shrink as never },
    onQueueChanged: () => seen.push('pass'),
    logger: createLogger('test', 'silent'),
  };
  await followEnd(options, { object: job(spec), row: row() });
  expect(written.map((allocation) => allocation.end)).toEqual(end === undefined ? [] : [end]);
  expect(seen).toEqual(end === undefined ? [] : ['pass']);
});
