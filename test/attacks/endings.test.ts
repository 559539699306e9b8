/** The cases of ends, and that their judge finds what is wrong. test/attacks/attacks.test.ts plays a part of them. */
import { JOB_NAME_LABEL, JOB_UID_LABEL, JOBID_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';
import { brokenBy } from './endings/judge';
import { casesOf } from './endings/play';

test('each case has a name of its own, and there are more than a thousand', () => {
  const all = casesOf();
  expect(all.length).toBeGreaterThan(1_000);
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(new Set(all.map(({ target, move }) => `${target.name}: ${move.name}`)).size).toBe(all.length);
});

const UNITS = { name: 'node-0', units: { core: '0' } };
const ROW: WorkloadRow = {
  ...rowIn('Running', submission('train')),
  user: 'mallory',
  allocation: { jobid: 7, start: 0, end: 600, nodes: [UNITS] },
};
const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'train', controller: true };
const pod = (name: string, { isOrphan = false, deadline = undefined as number | undefined } = {}): Pod => ({
  metadata: {
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { [JOB_UID_LABEL]: 'train', [JOB_NAME_LABEL]: 'train' },
    annotations: { [JOBID_ANNOTATION]: '7' },
    ...(isOrphan ? {} : { ownerReferences: [owner] }),
  },
  spec: {
    containers: [],
    nodeName: 'node-0',
    ...(deadline !== undefined && { activeDeadlineSeconds: deadline }),
  },
  status: { phase: 'Running' },
});
const judged = (life: 'waits' | 'stays' | 'ends', pods: readonly Pod[], row: WorkloadRow | undefined = ROW) =>
  brokenBy({ life, uids: ['a'] }, { pods, rowOf: () => row });
const GRANT = 'each pod that runs has a grant on its node';
const SLOTS = 'no node has more pods of a workload than were granted there';

test.each([
  ['nothing of one pod on its grant', 'stays', [pod('a')], ROW, []],
  ['a pod that is gone', 'stays', [], ROW, ['a pod stays until its kubelet says that it has ended']],
  ['a second pod', 'ends', [pod('a'), pod('b')], ROW, [SLOTS]],
  ['a pod whose workload has finished', 'ends', [pod('a')], { ...ROW, phase: 'Finished' }, [GRANT, SLOTS]],
  ['a start of what waits', 'waits', [pod('a')], ROW, ['what waits has no pod that runs']],
  [
    'an orphan without an end',
    'stays',
    [pod('a', { isOrphan: true })],
    ROW,
    ['a pod that no Job ends has a deadline of its own'],
  ],
  ['nothing of an orphan with a deadline', 'stays', [pod('a', { isOrphan: true, deadline: 60 })], ROW, []],
  ['a row of another user', 'stays', [pod('a')], { ...ROW, user: 'ada' }, ['each row counts for its user']],
] as const)('the judge reports %s', (_, life, pods, row, expected) => {
  expect(judged(life, pods, row as WorkloadRow)).toEqual(expected);
});
