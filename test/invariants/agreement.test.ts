/** The oracle sees what it is there for: each kind of disagreement, and nothing where all agree. */
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { rowIn } from '../queue/rows';
import { differences, Lasting } from './agreement';
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
  test('none where all agree', () => {
    expect(differences(agreed)).toEqual([]);
  });

  test('none where a reservation lies behind pods whose end nobody knows', () => {
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
    ['it is suspended', { jobs: [suspended] }, /I2.*held back/],
    ['its object is gone', { jobs: [] }, /I3.*its object is gone/],
    [
      'it is over',
      {
        jobs: [{ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }],
      },
      /I3.*is over/,
    ],
    [
      'its pod runs elsewhere',
      { pods: [{ ...pod, spec: { ...pod.spec, nodeName: 'node-2' } }] },
      /I3.*node-2/,
    ],
    ['it waits, and runs', { rows: [waiting] }, /I2.*its object is released/],
    [
      'it waits without an estimate, and Fluxion holds a reservation',
      { rows: [waiting], jobs: [suspended], pods: [], fluxion: holding(100) },
      /I2.*waits without a reservation/,
    ],
    ['it has no row', { rows: [], jobs: [suspended], fluxion: { jobs: [], nodes: [] } }, /I2.*has no row/],
    ['it has finished, and Fluxion holds it', { rows: [finished] }, /I3.*for nobody/],
  ])('%s', (_, over, said) => {
    expect(seen(over).map(({ invariant, text }) => `${invariant} ${text}`)).toContainEqual(
      expect.stringMatching(said),
    );
  });

  test('count when they have lasted', () => {
    const lasting = new Lasting();
    const found = seen({ jobs: [suspended] });
    expect(lasting.look(0, found)).toEqual([]);
    expect(lasting.look(4, [])).toEqual([]);
    expect(lasting.look(5, found)).toEqual([]);
    expect(lasting.look(10, found)).toEqual([]);
    expect(lasting.look(10.5, found)).toEqual(found);
    expect(lasting.look(11, found)).toEqual([]);
  });
});
