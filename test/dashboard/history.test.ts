/** What the page makes of a history. */
import { WORKLOAD_KIND_NAMES } from '../../constructs/api/workload-kinds';
import { eventsOf, keyIn, versionOf, workloadOf } from '../../runtime/dashboard/browser/history';
import { jobView } from '../../runtime/dashboard/view';
import { fluxJobName } from '../../runtime/fluxjobs/status';
import { entry, HISTORY } from './answers';
import { PLANNED, RUNNING } from './sample';

const TRAIN = { namespace: 'science', kind: 'job', name: 'train' };

test('a job tells its workload', () => {
  expect(workloadOf('science/train-job', jobView(RUNNING))).toEqual(TRAIN);
});

test.each<readonly [kind: string, name: string]>([
  ['Job', 'train'],
  ['Pod', 'train-job'],
  ['PodGroup', 'ring'],
  ...WORKLOAD_KIND_NAMES.map((kind) => [kind, 'train'] as const),
])('a %s that is gone is known by the name of its FluxJob', (kind, name) => {
  expect(workloadOf(`science/${fluxJobName(kind, name)}`, undefined)).toEqual({
    namespace: 'science',
    kind: kind.toLowerCase(),
    name,
  });
});

test('an address tells the job, unless nobody can read it', () => {
  expect(keyIn('#job=science%2Ftrain-job')).toBe('science/train-job');
  expect(['', '#queue', '#job=%', '#job=%E0%A4%A'].map(keyIn)).toEqual(Array(4).fill(undefined));
});

test.each(['science', 'science/', 'science/train', ''])('"%s" is no workload', (key) => {
  expect(workloadOf(key, undefined)).toBeUndefined();
});

test('events of workloads that had the name before are apart, and other kinds are left out', () => {
  const { own, earlier, omitted } = eventsOf(HISTORY.entries, 'job');
  expect(own.map(({ event }) => event)).toEqual(['Submitted', 'Waiting', 'Granted', 'Running']);
  expect(earlier.map(({ event }) => event)).toEqual(['Submitted', 'Finished']);
  expect(omitted).toBe(0);
});

test('of very many events the last ones are shown', () => {
  const many = Array.from({ length: 450 }, (_, i) => entry(i, 'Requeued', `${i}`));
  const { own, omitted } = eventsOf(many, 'job');
  expect([own.length, own.at(-1)!.message, omitted]).toEqual([200, '449', 250]);
});

test('the history is read again when the job changes, and not when its place in the line does', () => {
  const job = jobView(PLANNED);
  expect(versionOf({ ...job, position: 7, planned: '2026-11-23T13:00:00Z' })).toBe(versionOf(job));
  for (const change of [{ phase: 'Running' }, { reason: 'Held' }, { requeues: 1 }, { result: 'Failed' }])
    expect(versionOf({ ...job, ...change })).not.toBe(versionOf(job));
});
