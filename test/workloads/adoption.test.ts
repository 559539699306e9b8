import { ADMITTED_LABEL, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { askOf } from '../../runtime/jobspec/jobspec';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import { adoptionOf, forgottenGrant, TakenUnits } from '../../runtime/workloads/adoption';
import { placementOf } from '../../runtime/workloads/assignment';
import { adapters } from '../../runtime/workloads/index';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

const adapter = adapters.get('Job')!;

function released(annotations: Record<string, string>, over: Partial<Job['spec']> = {}): Job {
  return {
    metadata: {
      name: 'a',
      namespace: 'science',
      uid: 'a',
      resourceVersion: '1',
      creationTimestamp: '2027-01-01T00:00:00Z',
      labels: { [ADMITTED_LABEL]: 'true' },
    },
    spec: {
      suspend: false,
      completions: 2,
      parallelism: 2,
      template: { metadata: { annotations }, spec: { containers: [] } },
      ...over,
    },
  };
}

const GRANT = { [ASSIGNMENT_ANNOTATION]: '0/1:node-1,node-2', [JOBID_ANNOTATION]: '9' };
const grantOf = (object: KubernetesObject, row?: Parameters<typeof forgottenGrant>[2]) =>
  forgottenGrant(object, adapter, row, [], 0);

describe('what is a forgotten grant', () => {
  test('a released Job without a row, by what it carries', () => {
    expect(grantOf(released(GRANT))).toEqual({
      jobid: 9,
      places: [
        { node: 'node-1', pods: 1 },
        { node: 'node-2', pods: 1 },
      ],
    });
  });

  test.each(['', 'x', '1.5', '-4', '1e30', '9007199254740993', 'Infinity'])(
    'a job id that we never wrote is none: %j',
    (jobid) => {
      expect(grantOf(released({ ...GRANT, [JOBID_ANNOTATION]: jobid }))).toMatchObject({ jobid: 0 });
    },
  );

  test('one whose row waits with a job id as old as its own', () => {
    expect(grantOf(released(GRANT), rowIn('Waiting', { jobid: 9 }))).toBeDefined();
    expect(grantOf(released(GRANT), rowIn('Waiting', { jobid: 5 }))).toBeDefined();
  });

  test('not one that was requeued since: a leader that was overtaken has released it', () => {
    expect(grantOf(released(GRANT), rowIn('Waiting', { jobid: 10 }))).toBeUndefined();
  });

  test.each<[string, KubernetesObject]>([
    ['held back', released(GRANT, { suspend: true })],
    ['without an assignment', released({})],
    [
      'over',
      {
        ...released(GRANT),
        status: {
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2027-01-01T00:00:00Z' }],
        },
      } as Job,
    ],
  ])('not one that is %s', (_, object) => {
    expect(grantOf(object)).toBeUndefined();
  });

  test('not one that is in the books', () => {
    expect(grantOf(released(GRANT), rowIn('Running'))).toBeUndefined();
  });
});

describe('an adoption', () => {
  const given = submission('a', { pods: 2 });
  const places = [
    { node: 'node-1', pods: 1 },
    { node: 'node-2', pods: 1 },
  ];
  const none = new Map();

  test('takes units that nobody else has, and makes the pods it says', () => {
    const other = rowIn('Running', { uid: 'other' });
    const adoption = adoptionOf(given, { jobid: 9, places }, new TakenUnits([other]), none, 50.5);
    const { perPod } = askOf(given.jobspec);
    const [first] = adoption.allocation.nodes;
    expect(adoption.knownJobid).toBe(9);
    // node-1 has another workload on unit 0.
    expect(first).toEqual({
      name: 'node-1',
      units: Object.fromEntries(Object.keys(perPod).map((type) => [type, '1'])),
    });
    expect(adoption.allocation.start).toBe(50);
    const allocation = { ...adoption.allocation, jobid: 1 };
    expect(placementOf({ ...given, allocation })).toEqual(places);
  });

  test('two of them never share a unit', () => {
    const taken = new TakenUnits([]);
    const units = ['a', 'b'].map((uid) => {
      const one = adoptionOf({ ...given, uid }, { jobid: undefined, places: [places[0]!] }, taken, none, 0);
      return one.allocation.nodes[0]!.units;
    });
    expect(units[0]).not.toEqual(units[1]);
  });
});
