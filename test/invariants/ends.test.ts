import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { rowIn } from '../queue/rows';
import { recordedEnds, TrueEnds } from './ends';

const metadata = { name: 'a', namespace: 'science', uid: 'a', resourceVersion: '1', creationTimestamp: '' };
const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' };
const seen = (at: number, isGone = false) => ({ at, isGone, isUnseen: false });
const row = (over: Partial<WorkloadRow>) =>
  rowIn('Finished', { uid: 'a', name: 'a', startedAt: 102, ...over });
const record = (status: object) =>
  ({
    metadata,
    spec: { workload: { uid: 'a', kind: 'Job', name: 'a' } },
    status,
  }) as unknown as FluxJobObject;

/** A Job of one task that ran from second 102 to 132, and was complete two seconds later. */
function complete(): TrueEnds {
  const ends = new TrueEnds();
  const job = { metadata, spec: { completions: 1, template: { spec: { containers: [] } } } } as Job;
  const pod = {
    metadata: { ...metadata, uid: 'p', ownerReferences: [owner] },
    spec: { containers: [] },
  } as Pod;
  ends.sawJob(job, seen(100));
  ends.sawPod({ ...pod, status: { phase: 'Running' } }, seen(102));
  ends.sawPod({ ...pod, status: { phase: 'Succeeded' } }, seen(132));
  ends.sawJob({ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, seen(134));
  ends.sawJob(job, seen(135, true));
  return ends;
}

test.each<[string, Partial<WorkloadRow>, string | undefined]>([
  ['as it was', { finishedAt: 132 }, undefined],
  ['as cancelled', { result: 'Cancelled' }, 'is Cancelled, and was Succeeded'],
  ['as failed', { result: 'Failed' }, 'is Failed, and was Succeeded'],
  ['without a start', { startedAt: null }, 'is Succeeded, and never started, but ran at 102'],
  ['with another start', { startedAt: 90 }, 'started at 90, but its pods at 102'],
  ['with a late end', { finishedAt: 150 }, 'finished at 150, but ended at 134'],
  ['with an early end', { finishedAt: 110 }, 'finished at 110, but ended at 132'],
])('a Job that has succeeded and is gone is recorded %s', (_, over, text) => {
  const found = complete().violations([row(over)], true);
  expect(found).toEqual(text === undefined ? [] : [{ invariant: 'end', text: `Job a ${text}` }]);
});

test('a FluxJob says what its row says, exists, and says no more that it runs', () => {
  const finished = row({ startedAt: null, finishedAt: 132 });
  const says = (status: object) => recordedEnds([finished], [record(status)], new Set(['a']));
  const conditions = [{ type: 'Ready', reason: 'Succeeded' }];
  const right = { phase: 'Finished', result: 'Succeeded', finishTime: '1970-01-01T00:02:12Z', conditions };
  expect(says(right)).toEqual([]);
  for (const wrong of [
    { phase: 'Running' },
    { result: 'Failed' },
    { finishTime: undefined },
    { conditions: [] },
  ])
    expect(says({ ...right, ...wrong })).toHaveLength(1);
  expect(recordedEnds([finished], [], new Set(['a']))).toHaveLength(1);
  expect(recordedEnds([finished], [], new Set())).toEqual([]);
  expect(complete().unrecorded([record({ phase: 'Running' })])).toHaveLength(1);
  expect(complete().unrecorded([record(right)])).toEqual([]);
});
