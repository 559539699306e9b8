import { drainPicture, nextSentence } from '../../runtime/cli/drain';
import { linesOf } from '../../runtime/cli/picture';
import type { Pod } from '../../runtime/kubernetes/types';
import { fluxJob, runs, waits } from './fluxjobs';

function pod(name: string, owner: string | undefined, phase: string, ofQueue = true): Pod {
  return {
    metadata: {
      name,
      namespace: 'science',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '',
      ...(ofQueue ? { annotations: { 'fluxqueue/jobid': '1' } } : {}),
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              { apiVersion: 'batch/v1', kind: 'Job', name: owner, uid: owner, controller: true },
            ],
          }),
    },
    spec: { containers: [] },
    status: { phase: phase as never },
  };
}

const long = {
  ...runs,
  spec: { ...runs.spec, walltimeSeconds: 3600 },
  status: { ...runs.status, jobID: 1 },
};

test('a node is emptied when nothing that has nodes has this one', () => {
  const picture = drainPicture('node-2', [long, waits('first', 1)], [pod('runs-0', 'runs', 'Running')]);
  expect(linesOf(picture)).toEqual([
    'NAMESPACE  WORKLOAD  PHASE    UNTIL',
    'science    job/runs  Running  2026-11-23T12:55:10Z',
  ]);
  expect(picture.done).toBe(false);
  const empty = drainPicture('node-3', [long, waits('first', 1)], [pod('runs-0', 'runs', 'Succeeded')]);
  expect(linesOf(empty)).toEqual(['no workload of the queue is on node/node-3']);
  expect(empty.done).toBe(true);
});

test('a FluxJob that cannot name all of its nodes is on the node if a pod of it is', () => {
  const wide = fluxJob('wide', { phase: 'Running' as never, nodes: 'a1,…', jobID: 1 });
  expect(drainPicture('z9', [wide], []).done).toBe(true);
  expect(linesOf(drainPicture('z9', [wide], [pod('wide-0', 'wide', 'Running')]))[1]).toContain('job/wide');
});

test('a pod whose workload is not the one that made it is listed with that', () => {
  const set = fluxJob('set', { ...runs.status, jobID: 7 } as never);
  const member = (name: string, jobid: string) => {
    const { metadata, ...rest } = pod(name, 'set-workers-0', 'Running');
    return { ...rest, metadata: { ...metadata, annotations: { 'fluxqueue/jobid': jobid } } };
  };
  const pods = [member('set-workers-0-0', '7'), member('old-0', '6')];
  expect(linesOf(drainPicture('node-2', [set], pods)).slice(1)).toEqual([
    expect.stringContaining('job/set'),
    expect.stringContaining('pod/old-0'),
  ]);
  const wide = fluxJob('wide', { phase: 'Running' as never, nodes: 'a1,…', jobID: 7 });
  expect(linesOf(drainPicture('z9', [wide], pods.slice(0, 1))).slice(1)).toEqual([
    expect.stringContaining('job/wide'),
  ]);
});

test('a pod whose FluxJob is late or has ended is named itself, one outside the queue is not', () => {
  const pods = [pod('new-0', 'new', 'Pending'), pod('agent', undefined, 'Running', false)];
  expect(linesOf(drainPicture('node-1', [], pods)).slice(1)).toEqual(['science    pod/new-0  Pending']);
});

test('the next command is one that kubectl accepts, and says what it ends for good', () => {
  const flags = '--ignore-daemonsets --delete-emptydir-data';
  const [job, over] = [pod('runs-0', 'runs', 'Running'), pod('over', undefined, 'Succeeded')];
  expect(nextSentence('node-2', [job, over], false)).toBe(
    `next: kubectl fluxqueue drain node-2 --after-jobs waits for them; kubectl drain node-2 ${flags} ends them now`,
  );
  const lone = ['a', 'b', 'c', 'd'].map((name) => pod(name, undefined, 'Pending'));
  expect(nextSentence('node-2', [job, ...lone], false)).toContain(
    `kubectl drain node-2 ${flags} --force ends them now, and for good science/a, science/b and 2 more, which no controller makes again`,
  );
  expect(nextSentence('node-2', lone.slice(3), true)).toBe(
    `next: kubectl drain node-2 ${flags} --force for what is not of the queue, and ends for good science/d, which no controller makes again; after the work: kubectl uncordon node-2`,
  );
});
