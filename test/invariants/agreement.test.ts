/** The oracle finds each kind of disagreement, and nothing if all views agree. */
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { differences, DifferenceTracker } from './agreement';
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
  test('there are none if all views agree', () => {
    expect(differences(agreed)).toEqual([]);
  });

  test('there are none for a reservation behind pods whose end is not known', () => {
    const behind = { jobs: [suspended], pods: [], fluxion: holding(100 * 365 * 24 * 3600) };
    expect(seen({ ...behind, rows: [waiting] })).toEqual([]);
  });

  const waiting = rowIn('Waiting', { uid: 'a', name: 'a' });
  const suspended: Job = { ...job, spec: { ...job.spec, suspend: true } };
  const holding = (after: number) => ({
    jobs: [{ ...row.allocation!, start: waiting.submittedAt + after }],
    nodes: [],
  });
  const finished = rowIn('Finished', { uid: 'a', name: 'a' });
  test.each<[string, Partial<Observation>, RegExp]>([
    ['Fluxion has forgotten it', { fluxion: { jobs: [], nodes: [] } }, /I2.*does not hold job 7/],
    [
      'Fluxion holds something else',
      {
        fluxion: {
          jobs: [{ ...row.allocation!, nodes: [{ name: 'node-2', units: { core: '0' } }] }],
          nodes: [],
        },
      },
      /I2.*Fluxion says node-2/,
    ],
    ['its object is suspended', { jobs: [suspended] }, /I2.*is suspended or gated/],
    ['its object is gone', { jobs: [] }, /I3.*its object is gone/],
    [
      'it has ended',
      {
        jobs: [{ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }],
      },
      /I3.*has ended/,
    ],
    [
      'its pod runs elsewhere',
      { pods: [{ ...pod, spec: { ...pod.spec, nodeName: 'node-2' } }] },
      /I3.*node-2/,
    ],
    ['it waits and runs', { rows: [waiting] }, /I2.*its object is released/],
    [
      'it waits without an estimate and Fluxion holds a reservation',
      { rows: [waiting], jobs: [suspended], pods: [], fluxion: holding(100) },
      /I2.*waits without a reservation/,
    ],
    ['it has no row', { rows: [], jobs: [suspended], fluxion: { jobs: [], nodes: [] } }, /I2.*has no row/],
    ['it has finished and Fluxion holds it', { rows: [finished] }, /I3.*without an active row/],
  ])('found: %s', (_, over, said) => {
    expect(seen(over).map(({ invariant, text }) => `${invariant} ${text}`)).toContainEqual(
      expect.stringMatching(said),
    );
  });

  test('are reported when they have lasted too long', () => {
    const tracker = new DifferenceTracker();
    const found = seen({ jobs: [suspended] });
    expect(tracker.update(0, found)).toEqual([]);
    expect(tracker.update(4, [])).toEqual([]);
    expect(tracker.update(5, found)).toEqual([]);
    expect(tracker.update(10, found)).toEqual([]);
    expect(tracker.update(10.5, found)).toEqual(found);
    expect(tracker.update(11, found)).toEqual([]);
  });
});
