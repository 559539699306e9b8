/** The checks report each kind of difference, and nothing when all views agree. */
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { differences, PersistentDifferences } from './agreement';
import type { Observation } from './observation';

const meta = { name: 'a', namespace: 'science', uid: 'a', resourceVersion: '1', creationTimestamp: '' };
const template = {
  metadata: { annotations: { 'fluxqueue/assignment': '0/1:node-1' } },
  spec: { containers: [] },
};
const row = rowIn('Running', { uid: 'a', name: 'a' });
const job: Job = {
  metadata: { ...meta, labels: { 'fluxqueue/admitted': 'true' } },
  spec: { suspend: false, template },
};
const pod: Pod = {
  metadata: {
    ...meta,
    name: 'a-0',
    uid: 'a-0',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'a' }],
  },
  spec: { containers: [], nodeName: 'node-1' },
  status: { phase: 'Running' },
};
const node = (name: string) => ({ metadata: { ...meta, name, uid: name }, spec: {} });
const agreed: Observation = {
  rows: [row],
  events: [],
  jobs: [job],
  pods: [pod],
  nodes: [node('node-1'), node('node-2')],
  fluxion: { jobs: [row.allocation!], nodes: [] },
};
const seen = (over: Partial<Observation>) => differences({ ...agreed, ...over });

describe('differences between the three views', () => {
  test('reports nothing when all views agree', () => {
    expect(differences(agreed)).toEqual([]);
  });

  test('reports a node with more pods of a Job than its assignment has slots there', () => {
    const second = { ...pod, metadata: { ...pod.metadata, name: 'a-1', uid: 'a-1' } };
    expect(seen({ pods: [pod, second] })).toEqual([
      { invariant: 'I1', text: 'a has 2 pods on node-1, where it has 1' },
    ]);
    const ended = { ...second, status: { phase: 'Succeeded' } } as const;
    const deleting = {
      ...second,
      metadata: { ...second.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const elastic = rowIn('Running', { uid: 'a-1', name: 'a-1', jobid: row.jobid });
    for (const none of [
      { pods: [pod, ended] },
      { pods: [pod, deleting] },
      { pods: [pod, second], rows: [row, elastic] },
    ])
      expect(seen(none).filter(({ invariant }) => invariant === 'I1')).toEqual([]);
  });

  test('reports nothing for a reservation, also if its start is not known', () => {
    const behind = { jobs: [suspended], pods: [], fluxion: holding(100) };
    expect(seen({ ...behind, rows: [{ ...waiting, reason: 'Reserved' }] })).toEqual([]);
  });

  test('tolerates a pod that was deleted before its node became ready again', () => {
    const at = (second: number) => new Date(second * 1000).toISOString();
    // With a grace period of 30 s.
    const deleted = { deletionTimestamp: at(38), deletionGracePeriodSeconds: 30 };
    const pods = [{ ...pod, metadata: { ...pod.metadata, ...deleted } }];
    const readySince = (second: number) => {
      const condition = { type: 'Ready', status: 'True', lastTransitionTime: at(second) } as const;
      return [{ ...node('node-1'), status: { conditions: [condition] } }];
    };
    const gone = { rows: [waiting], jobs: [suspended], fluxion: { jobs: [], nodes: [] } };
    expect(seen({ ...gone, pods, nodes: readySince(9) })).toEqual([]);
    expect(seen({ ...gone, pods, nodes: readySince(7) })).toHaveLength(1);
    expect(seen({ ...gone, pods: [pod], nodes: readySince(9) })).toHaveLength(1);
  });

  test('tolerates a pod of a deleted node that has come back, if the pod is being deleted', () => {
    const at = (second: number) => new Date(second * 1000).toISOString();
    const old = { ...pod.metadata, creationTimestamp: at(5) };
    const deleting = { ...pod, metadata: { ...old, deletionTimestamp: at(8) } };
    const created = (second: number) => {
      const { metadata, spec } = node('node-1');
      return [{ metadata: { ...metadata, creationTimestamp: at(second) }, spec }];
    };
    const gone = { rows: [waiting], jobs: [suspended], fluxion: { jobs: [], nodes: [] } };
    expect(seen({ ...gone, pods: [deleting], nodes: created(9) })).toEqual([]);
    expect(seen({ ...gone, pods: [deleting], nodes: created(1) })).toHaveLength(1);
    expect(seen({ ...gone, pods: [{ ...pod, metadata: old }], nodes: created(9) })).toHaveLength(1);
  });

  test('tolerates units beyond the node of an adopted workload', () => {
    const nodes = [{ name: 'node-1', units: { core: '2-4' } }];
    const adopted = { ...row, allocation: { ...row.allocation!, nodes } };
    const state = (core: string, total: number) => ({
      jobs: [{ ...row.allocation!, nodes: [{ name: 'node-1', units: { core } }] }],
      nodes: [{ name: 'node-1', up: true, total: { core: total }, free: {}, properties: [] }],
    });
    expect(seen({ rows: [adopted], fluxion: state('2-3', 4) })).toEqual([]);
    expect(seen({ rows: [adopted], fluxion: state('2-3', 5) })).toHaveLength(1);
  });

  const waiting = rowIn('Waiting', { uid: 'a', name: 'a' });
  const suspended: Job = { ...job, spec: { ...job.spec, suspend: true } };
  const holding = (after: number) => ({
    jobs: [{ ...row.allocation!, start: waiting.submittedAt + after }],
    nodes: [],
  });
  const finished = rowIn('Finished', { uid: 'a', name: 'a' });
  test.each<[string, Partial<Observation>, RegExp]>([
    ['Fluxion has lost its job', { fluxion: { jobs: [], nodes: [] } }, /I2.*does not hold job 7/],
    [
      'Fluxion holds another node',
      {
        fluxion: {
          jobs: [{ ...row.allocation!, nodes: [{ name: 'node-2', units: { core: '0' } }] }],
          nodes: [],
        },
      },
      /I2.*Fluxion has node-2/,
    ],
    ['its object is suspended', { jobs: [suspended] }, /I2.*is suspended/],
    ['its object does not exist', { jobs: [] }, /I3.*its object does not exist/],
    [
      'its object has finished',
      {
        jobs: [{ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }],
      },
      /I3.*has finished/,
    ],
    [
      'its pod runs on another node',
      { pods: [{ ...pod, spec: { ...pod.spec, nodeName: 'node-2' } }] },
      /I3.*node-2/,
    ],
    ['it waits and its object is released', { rows: [waiting] }, /I2.*its object is released/],
    [
      'it waits for another reason and Fluxion holds a reservation',
      { rows: [waiting], jobs: [suspended], pods: [], fluxion: holding(100) },
      /I2.*waits without a reservation/,
    ],
    ['it has no row', { rows: [], jobs: [suspended], fluxion: { jobs: [], nodes: [] } }, /I2.*has no row/],
    ['it has finished and Fluxion holds its job', { rows: [finished] }, /I3.*without a row/],
  ])('reports that %s', (_, over, said) => {
    expect(seen(over).map(({ invariant, text }) => `${invariant} ${text}`)).toContainEqual(
      expect.stringMatching(said),
    );
  });

  test('count only after they have lasted for the tolerated time', () => {
    const persistent = new PersistentDifferences();
    const found = seen({ jobs: [suspended] });
    expect(persistent.observe(0, found)).toEqual([]);
    expect(persistent.observe(4, [])).toEqual([]);
    expect(persistent.observe(5, found)).toEqual([]);
    expect(persistent.observe(13, found)).toEqual([]);
    expect(persistent.observe(13.5, found)).toEqual(found);
    expect(persistent.observe(14, found)).toEqual([]);
    const patient = new PersistentDifferences(20);
    expect([0, 20, 21].map((at) => patient.observe(at, found).length)).toEqual([0, 0, found.length]);
  });
});
