import { ADMITTED_LABEL, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { askOf } from '../../runtime/jobspec/jobspec';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { RecordedGrant } from '../../runtime/workloads/adapter';
import { adoptionOf, TakenUnits, unrecordedGrant } from '../../runtime/workloads/adoption';
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
const recordedGrant = (object: KubernetesObject, row?: Parameters<typeof unrecordedGrant>[2]) =>
  unrecordedGrant(object, adapter, row, [], 0);

describe('an unrecorded grant', () => {
  test('is read from a released Job without a row', () => {
    expect(recordedGrant(released(GRANT))).toEqual({
      jobid: 9,
      placement: [
        { node: 'node-1', pods: 1 },
        { node: 'node-2', pods: 1 },
      ],
    });
  });

  test('has the job id of a Job even if that is as large as the queue gives', () => {
    const jobid = 2 ** 52 - 1;
    expect(recordedGrant(released({ ...GRANT, [JOBID_ANNOTATION]: String(jobid) }))).toMatchObject({ jobid });
  });

  test.each(['', 'x', '1.5', '-4', '1e30', '4503599627370496', '9007199254740991', 'Infinity'])(
    'has job id 0 if the annotation has the invalid value %j',
    (jobid) => {
      expect(recordedGrant(released({ ...GRANT, [JOBID_ANNOTATION]: jobid }))).toMatchObject({ jobid: 0 });
    },
  );

  test('is found if the row waits with a job id that is not higher than the one of the Job', () => {
    expect(recordedGrant(released(GRANT), rowIn('Waiting', { jobid: 9 }))).toBeDefined();
    expect(recordedGrant(released(GRANT), rowIn('Waiting', { jobid: 5 }))).toBeDefined();
  });

  test('is not found if the workload was requeued since, because then a former leader released it', () => {
    expect(recordedGrant(released(GRANT), rowIn('Waiting', { jobid: 10 }))).toBeUndefined();
  });

  test.each<[string, KubernetesObject]>([
    ['suspended', released(GRANT, { suspend: true })],
    ['without an assignment', released({})],
    [
      'finished',
      {
        ...released(GRANT),
        status: {
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2027-01-01T00:00:00Z' }],
        },
      } as Job,
    ],
  ])('is not found on a Job that is %s', (_, object) => {
    expect(recordedGrant(object)).toBeUndefined();
  });

  test('is not found if the workload has a running row of the same or a later grant', () => {
    for (const jobid of [9, 10])
      expect(recordedGrant(released(GRANT), rowIn('Running', { jobid }))).toBeUndefined();
  });

  test('is found if the workload carries a later grant than its granted row', () => {
    for (const phase of ['Ready', 'Running'] as const)
      expect(recordedGrant(released(GRANT), rowIn(phase, { jobid: 8 }))).toMatchObject({ jobid: 9 });
  });
});

describe('an adoption', () => {
  const given = submission('a', { pods: 2 });
  const placement = [
    { node: 'node-1', pods: 1 },
    { node: 'node-2', pods: 1 },
  ];
  const facts = (...pods: readonly Pod[]) => ({ pods, nodes: new Map(), now: 50.5 });

  test('takes free units only and keeps the placement of the grant', () => {
    const other = rowIn('Running', { uid: 'other' });
    const { adoption } = adoptionOf(given, { jobid: 9, placement }, new TakenUnits([other]), facts());
    const { perPod } = askOf(given.jobspec);
    const [first] = adoption.allocation.nodes;
    expect(adoption.knownJobid).toBe(9);
    // Another workload uses unit 0 of node-1.
    expect(first).toEqual({
      name: 'node-1',
      units: Object.fromEntries(Object.keys(perPod).map((type) => [type, '1'])),
    });
    expect(adoption.allocation.start).toBe(50);
    const allocation = { ...adoption.allocation, jobid: 1 };
    expect(placementOf({ ...given, allocation })).toEqual(placement);
  });

  test('never shares a unit with another adoption', () => {
    const taken = new TakenUnits([]);
    const units = ['a', 'b'].map((uid) => {
      const grant = { jobid: undefined, placement: [placement[0]!] };
      return adoptionOf({ ...given, uid }, grant, taken, facts()).adoption.allocation.nodes[0]!.units;
    });
    expect(units[0]).not.toEqual(units[1]);
  });

  describe('begins', () => {
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    const ran = (jobid: string, startedAt: number): Pod => ({
      metadata: {
        name: `pod-${startedAt}`,
        uid: `pod-${startedAt}`,
        resourceVersion: '1',
        creationTimestamp: at(1),
        annotations: { [JOBID_ANNOTATION]: jobid },
      },
      spec: { containers: [], nodeName: 'node-1' },
      status: {
        phase: 'Succeeded',
        containerStatuses: [
          { name: 'main', state: { terminated: { exitCode: 0, startedAt: at(startedAt) } } },
        ],
      },
    });
    const times = (grant: Partial<RecordedGrant>, ...pods: readonly Pod[]) => {
      const full = { jobid: 9, placement, ...grant };
      const { adoption, startedAt } = adoptionOf(given, full, new TakenUnits([]), facts(...pods));
      const { start, end } = adoption.allocation;
      expect(end - start).toBe(given.walltime);
      return { start, startedAt, releasedAt: adoption.releasedAt };
    };

    test('with the first container of its own grant, also one that has ended', () => {
      const pods = [ran('8', 5), ran('9', 30), ran('9', 20)];
      expect(times({ releasedAt: 15 }, ...pods)).toEqual({ start: 20, startedAt: 20, releasedAt: 15 });
      expect(times({}, ...pods)).toEqual({ start: 20, startedAt: 20, releasedAt: 20 });
    });

    test('with the release if no container has started, and now if nothing tells', () => {
      expect(times({ releasedAt: 15 })).toEqual({ start: 15, startedAt: undefined, releasedAt: 15 });
      expect(times({})).toEqual({ start: 50, startedAt: undefined, releasedAt: 50.5 });
    });

    test('never before the release', () => {
      expect(times({ jobid: 0, releasedAt: 15 }, ran('9', 5))).toMatchObject({ startedAt: 15 });
    });
  });
});
