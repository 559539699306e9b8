/** What a new leader still has to record: workloads that ended while no leader could write their FluxJob. */
import { isFleeting } from '../../runtime/fluxjobs/fleeting';
import { PendingRows } from '../../runtime/fluxjobs/pending-rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { WorkloadCache } from '../../runtime/queue/workload-cache';
import { rowIn } from '../queue/rows';

const ROWS: readonly WorkloadRow[] = [
  rowIn('Running', { uid: 'active' }),
  rowIn('Finished', { uid: 'without-fluxjob', submittedAt: 100, finishedAt: 192 }),
  rowIn('Finished', { uid: 'fleeting', submittedAt: 100, finishedAt: 102 }),
  rowIn('Finished', { uid: 'shown-running', submittedAt: 100, finishedAt: 102 }),
  rowIn('Finished', { uid: 'shown-finished' }),
];

const byUid = async (uids: readonly string[]) => ROWS.filter(({ uid }) => uids.includes(uid));
const queue = {
  byUid,
  notable: async (uids: readonly string[]) => (await byUid(uids)).filter((row) => !isFleeting(row)),
};

const fluxJob = (workload: string, phase: 'Running' | 'Finished') => ({ workload, status: { phase } });
type Shown = ReturnType<typeof fluxJob>;

test.each<[string, string[], Shown[], string[]]>([
  ['nothing where nothing exists', [], [], []],
  ['a workload without a FluxJob', ['without-fluxjob'], [], ['without-fluxjob']],
  [
    'a FluxJob that does not say so',
    ['shown-running'],
    [fluxJob('shown-running', 'Running')],
    ['shown-running'],
  ],
  ['a FluxJob whose workload is deleted', [], [fluxJob('shown-running', 'Running')], ['shown-running']],
  ['not what a FluxJob says already', ['shown-finished'], [fluxJob('shown-finished', 'Finished')], []],
  ['not what succeeded at once and has no FluxJob', ['fleeting'], [], []],
  ['not what is active', ['active'], [], []],
  ['not what was never queued', ['stranger'], [], []],
])('recovers %s', async (_, workloads, fluxJobs, expected) => {
  const cache = { byUid: (uid: string) => ROWS.find((row) => row.uid === uid && row.phase !== 'Finished') };
  const pending = new PendingRows(cache as WorkloadCache, queue, 'Notable');
  await pending.recover(workloads, fluxJobs);
  expect([...pending.finishedUids()]).toEqual(expected);
});

test('recovers every workload without a FluxJob where all of them have one', async () => {
  const pending = new PendingRows({ byUid: () => undefined } as unknown as WorkloadCache, queue, 'All');
  await pending.recover(['fleeting', 'without-fluxjob'], []);
  expect([...pending.finishedUids()].sort()).toEqual(['fleeting', 'without-fluxjob']);
});
