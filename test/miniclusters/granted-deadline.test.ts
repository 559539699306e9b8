/** What an edit of a MiniCluster does to the deadline of its Job, which the controller writes. */
import { ADMITTED_LABEL, DEADLINE_ANNOTATION } from '../../constructs/api/labels';
import { MINICLUSTER_DEADLINE_SECONDS } from '../../constructs/api/queue-defaults';
import { renderMiniCluster } from '../../constructs/minicluster/index';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import { laterDeadline } from '../../runtime/miniclusters/granted-deadline';
import { isWorkload, manifestToApply } from '../../runtime/miniclusters/manifests';
import { progressOfJob } from '../../runtime/miniclusters/workload-status';
import { cluster, job } from './objects';

interface Stored {
  readonly activeDeadlineSeconds?: number;
  readonly suspend?: boolean;
  /** Of the release. */
  readonly note?: string;
  /** @default true */
  readonly isAdmitted?: boolean;
}

/** The deadline that the controller applies to this Job of the MiniCluster, and what its user reads. */
function applied(spec: Partial<MiniClusterSpec>, { note, isAdmitted = true, ...stored }: Stored) {
  const { metadata, ...rest } = job(stored);
  const labels = isAdmitted ? { [ADMITTED_LABEL]: 'true' } : {};
  const annotations = note === undefined ? {} : { [DEADLINE_ANNOTATION]: note };
  const progress = progressOfJob({ ...rest, metadata: { ...metadata, labels, annotations } }, []);
  const resource = cluster(spec);
  const rendered = renderMiniCluster(resource);
  const manifest = rendered.map((one) => manifestToApply(one, resource, progress)).find(isWorkload)!;
  const { activeDeadlineSeconds } = manifest.spec as Stored;
  return {
    deadline: activeDeadlineSeconds,
    problem: laterDeadline(resource, rendered, progress)?.message.split(';')[0],
  };
}

const mostly = (field: string, most: number, got: string) =>
  `spec.${field}: must be at most ${most}s, which the queue granted at the start of the Job (got ${got})`;

test.each([
  ['raised', { deadlineSeconds: 864_000 }, mostly('deadlineSeconds', 8, '864000s')],
  ['raised by a walltime', { walltime: '10d' }, mostly('walltime', 8, '864000s')],
  ['removed', {}, mostly('deadlineSeconds', 8, 'none')],
  ['unchanged', { deadlineSeconds: 8 }, undefined],
])('keeps the deadline of a running Job that its MiniCluster set and has %s', (_, spec, problem) => {
  expect(applied(spec, { activeDeadlineSeconds: 8 })).toEqual({ deadline: 8, problem });
});

test.each([
  ['raised', { deadlineSeconds: 864_000 }, mostly('deadlineSeconds', 3600, '864000s')],
  ['raised by what is for its start', { deadlineSeconds: 4000 }, mostly('deadlineSeconds', 3600, '4000s')],
  ['left alone', {}, undefined],
  ['set to what counts as none', { deadlineSeconds: MINICLUSTER_DEADLINE_SECONDS }, undefined],
])('keeps the default walltime of a running Job whose deadline is %s', (_, spec, problem) => {
  for (const stored of [
    { activeDeadlineSeconds: 7200, note: '3600+3600/none' },
    { activeDeadlineSeconds: 3600, note: '3600/none' },
  ])
    expect(applied(spec, stored)).toEqual({ deadline: stored.activeDeadlineSeconds, problem });
});

test('says nothing about a deadline that is beyond the limit of the queue since its start', () => {
  const stored = { activeDeadlineSeconds: 600, note: '600/1000' };
  expect(applied({ deadlineSeconds: 1000 }, stored)).toEqual({ deadline: 600, problem: undefined });
});

test('ends a running Job earlier if its MiniCluster says so', () => {
  for (const note of ['600/1000', '500+100/1000', undefined]) {
    const stored = { activeDeadlineSeconds: 600, ...(note === undefined ? {} : { note }) };
    expect(applied({ deadlineSeconds: 60 }, stored)).toEqual({ deadline: 60, problem: undefined });
  }
});

test('keeps the deadline of a staged Job, which counts from before its grant', () => {
  const stored = { activeDeadlineSeconds: 2 ** 31 - 1, note: `${2 ** 31 - 1}/8` };
  expect(applied({ deadlineSeconds: 8 }, stored)).toEqual({ deadline: 2 ** 31 - 1, problem: undefined });
});

test.each([
  ['waits', { suspend: true }],
  ['is not of the queue', { isAdmitted: false }],
])('takes another deadline of a Job that %s', (_, state) => {
  const stored = { activeDeadlineSeconds: 8, ...state };
  expect(applied({ deadlineSeconds: 864_000 }, stored)).toEqual({ deadline: 864_000, problem: undefined });
});

test('keeps the deadline of the last grant while a requeued Job waits', () => {
  const stored = { activeDeadlineSeconds: 600, note: '600/1000', suspend: true };
  expect(applied({ deadlineSeconds: 1000 }, stored)).toEqual({ deadline: 600, problem: undefined });
});
