import { fluxJobName, fluxJobSpec, fluxJobStatus, type StatusContext } from '../../runtime/fluxjobs/status';
import { rfc3339 } from '../../runtime/kubernetes/conditions';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { NEVER_MET } from '../../runtime/scheduler/pass/dependencies';
import { rowIn } from '../queue/rows';

const context = (over: Partial<StatusContext> = {}): StatusContext => ({
  position: undefined,
  wait: undefined,
  previous: {},
  now: 1000,
  ...over,
});

/** `Scheduled=True Ready=False …` */
function conditions(row: WorkloadRow): string {
  return fluxJobStatus(row, context())
    .conditions!.map(({ type, status }) => `${type}=${status}`)
    .join(' ');
}

const RECONCILING = 'Scheduled=False Ready=False Reconciling=True Stalled=False';
const STALLED = 'Scheduled=False Ready=False Reconciling=False Stalled=True';

const incomplete = { message: '2 of the 3 pods of its group are there', until: 9 };
const { jobspec } = rowIn('Waiting');
const OF_GROUP = { ...jobspec, attributes: { ...jobspec.attributes, user: { incomplete } } };

const TABLE: readonly [Phase, Partial<WorkloadRow>, string, string][] = [
  ['Waiting', { reason: null }, 'Scheduled=False Ready=False Reconciling=True Stalled=False', 'Submitted'],
  ['Waiting', {}, 'Scheduled=False Ready=False Reconciling=True Stalled=False', 'Busy'],
  ['Waiting', { reason: 'Held' }, 'Scheduled=False Ready=False Reconciling=True Stalled=False', 'Held'],
  ['Waiting', { reason: 'Held', message: null, jobspec: OF_GROUP }, RECONCILING, 'GroupIncomplete'],
  [
    'Waiting',
    { reason: 'Unsatisfiable' },
    'Scheduled=False Ready=False Reconciling=False Stalled=True',
    'Unsatisfiable',
  ],
  ['Waiting', { reason: 'Invalid' }, 'Scheduled=False Ready=False Reconciling=False Stalled=True', 'Invalid'],
  ['Waiting', { reason: 'NoFluxSetup' }, STALLED, 'NoFluxSetup'],
  ['Waiting', { reason: 'RequeueLimit' }, STALLED, 'RequeueLimit'],
  ['Waiting', { reason: 'QuotaExceeded' }, RECONCILING, 'QuotaExceeded'],
  [
    'Waiting',
    { reason: 'QuotaExceeded', message: 'can never start: asks for 9 cores' },
    STALLED,
    'QuotaExceeded',
  ],
  [
    'Waiting',
    { reason: 'DependencyPending', message: 'waits for prep to succeed' },
    RECONCILING,
    'DependencyPending',
  ],
  [
    'Waiting',
    { reason: 'DependencyPending', message: `${NEVER_MET}waits for prep to succeed, which has failed` },
    STALLED,
    'DependencyPending',
  ],
  ['Ready', {}, 'Scheduled=True Ready=False Reconciling=True Stalled=False', 'Granted'],
  ['Running', {}, 'Scheduled=True Ready=True Reconciling=False Stalled=False', 'Running'],
  ['Finished', {}, 'Scheduled=True Ready=True Reconciling=False Stalled=False', 'Succeeded'],
  ['Finished', { result: 'Failed' }, 'Scheduled=True Ready=False Reconciling=False Stalled=True', 'Failed'],
  [
    'Finished',
    { result: 'TimedOut' },
    'Scheduled=True Ready=False Reconciling=False Stalled=True',
    'TimedOut',
  ],
  [
    'Finished',
    { result: 'Cancelled' },
    'Scheduled=True Ready=False Reconciling=False Stalled=False',
    'Cancelled',
  ],
];

describe('the status of a FluxJob', () => {
  test.each(TABLE)('%s %j', (phase, over, expected, reason) => {
    const row = rowIn(phase, over);
    expect(conditions(row)).toBe(expected);
    for (const condition of fluxJobStatus(row, context()).conditions!) {
      expect(condition.reason).toBe(reason);
      expect(condition.message).not.toBe('');
    }
  });

  test('names the fields that only kube-scheduler checks', () => {
    const row = rowIn('Waiting');
    const unmodeled = ['spec.resourceClaims', 'spec.schedulingGates'];
    const jobspec = { ...row.jobspec, attributes: { ...row.jobspec.attributes, user: { unmodeled } } };
    const { conditions: shown } = fluxJobStatus({ ...row, jobspec }, context());
    expect(shown).toContainEqual(
      expect.objectContaining({
        type: 'PartiallyModeled',
        status: 'True',
        reason: 'FieldsNotModeled',
        message: expect.stringContaining('spec.resourceClaims, spec.schedulingGates'),
      }),
    );
  });

  test('says what its pods use beyond the grant, as long as they do', () => {
    const noted = (over: Partial<StatusContext>) =>
      fluxJobStatus(rowIn('Running'), context(over)).conditions!.find(
        ({ type }) => type === 'MoreThanGranted',
      );
    expect(noted({ surplus: [] })).toBeUndefined();
    const surplus = [
      ['node-1', { amounts: { cpu: '1600m', memory: '4Gi' }, pods: ['a'] }],
      ['node-7', { amounts: { cpu: '1' }, pods: ['b', 'c', 'd', 'e'] }],
    ] as const;
    expect(noted({ surplus })).toMatchObject({
      status: 'True',
      reason: 'SurplusInUse',
      message: expect.stringMatching(
        /^its pods use more than was granted: 1600m cpu and 4Gi memory of node-1 \(pod a\), 1 cpu of node-7 \(pods b, c and 2 more\); another pod /,
      ),
    });
  });

  test.each<[Phase, Partial<StatusContext>]>([
    ['Ready', {}],
    ['Ready', { wait: { reason: 'Unschedulable', message: '0/2 nodes' } }],
    ['Running', {}],
    [
      'Running',
      { wait: { reason: 'Evicting', message: 'its spec.suspend was set to true', isPartial: true } },
    ],
    ['Running', { wait: { reason: 'Pending', message: 'pod b waits', isPartial: true } }],
  ])('says in the phase %s with %j which pod does not end', (phase, over) => {
    const lingering = 'pod a should have ended';
    for (const evictionReason of [null, 'preempted by science/urgent']) {
      const messages = fluxJobStatus(rowIn(phase, { evictionReason }), context({ ...over, lingering }))
        .conditions!.filter(({ type }) => type === 'Scheduled')
        .map(({ message }) => message);
      expect(messages).toEqual([expect.stringMatching(/.; pod a should have ended$/)]);
    }
  });

  test('says what a limit of the queue changed', () => {
    const row = rowIn('Running');
    const user = { reduced: ['walltime 9h is reduced to 1h', 'priority 5 is reduced to 0'] };
    const jobspec = { ...row.jobspec, attributes: { ...row.jobspec.attributes, user } };
    const shownIn = (of: typeof row) =>
      fluxJobStatus(of, context()).conditions!.find(({ type }) => type === 'SettingsReduced');
    expect(shownIn(row)).toBeUndefined();
    expect(shownIn({ ...row, jobspec })).toMatchObject({
      status: 'True',
      reason: 'LimitedByQueue',
      message: 'walltime 9h is reduced to 1h; priority 5 is reduced to 0',
    });
  });

  test('says what its user changed too late', () => {
    const shownIn = (ignored?: readonly string[]) =>
      fluxJobStatus(rowIn('Running'), context(ignored && { ignored })).conditions!.find(
        ({ type }) => type === 'ChangeIgnored',
      );
    expect(shownIn()).toBeUndefined();
    expect(shownIn([])).toBeUndefined();
    expect(shownIn(['spec.a cannot', 'spec.b cannot'])).toMatchObject({
      status: 'True',
      reason: 'AlreadyStarted',
      message: 'spec.a cannot; spec.b cannot',
    });
  });

  test('shows the position and the estimated start of a waiting workload', () => {
    const row = rowIn('Waiting', { reason: 'Reserved', estimatedStart: 1_800_000_000.4 });
    expect(fluxJobStatus(row, context({ position: 2 }))).toMatchObject({
      phase: 'Waiting',
      position: 2,
      start: '~2027-01-15T08:00:00Z',
      estimatedStart: '2027-01-15T08:00:00Z',
      jobID: 7,
    });
  });

  test('shows a planned start as a plan, to the minute, and only without a promise', () => {
    const busy = rowIn('Waiting', { reason: 'Busy' });
    expect(fluxJobStatus(busy, context({ plannedStart: 1_800_000_001 }))).toMatchObject({
      start: '?2027-01-15T08:01:00Z',
      plannedStart: '2027-01-15T08:01:00Z',
    });
    expect(fluxJobStatus(busy, context({ plannedStart: 1_800_000_001 }))).not.toHaveProperty(
      'estimatedStart',
    );
    const reserved = rowIn('Waiting', { reason: 'Reserved', estimatedStart: 1_800_000_000 });
    const status = fluxJobStatus(reserved, context({ plannedStart: 1_700_000_000 }));
    expect(status.start).toBe('~2027-01-15T08:00:00Z');
    expect(status).not.toHaveProperty('plannedStart');
    expect(fluxJobStatus(rowIn('Running'), context({ plannedStart: 9 }))).not.toHaveProperty('plannedStart');
  });

  test('shows no planned start of a workload that can never start, also where the plan is older', () => {
    const plans = { plannedStart: 1_800_000_001, likelyStart: 1_799_999_001 };
    const never = rowIn('Waiting', {
      reason: 'Unsatisfiable',
      message: 'can never start: asks for 99 cores',
    });
    for (const key of ['start', 'plannedStart', 'likelyStart'])
      expect(fluxJobStatus(never, context(plans))).not.toHaveProperty(key);
  });

  test('shows a likely start where it is sooner than the promise or the plan', () => {
    const likelyOf = (row: WorkloadRow, over: Partial<StatusContext>) =>
      fluxJobStatus(row, context(over)).likelyStart;
    const busy = rowIn('Waiting', { reason: 'Busy' });
    const reserved = rowIn('Waiting', { reason: 'Reserved', estimatedStart: 1_800_000_000 });
    expect(likelyOf(reserved, { likelyStart: 1_799_999_001 })).toBe('2027-01-15T07:44:00Z');
    expect(likelyOf(busy, { likelyStart: 1_799_999_001, plannedStart: 1_800_000_001 })).toBe(
      '2027-01-15T07:44:00Z',
    );
    expect(likelyOf(reserved, { likelyStart: 1_799_999_999 })).toBeUndefined();
    expect(likelyOf(busy, { likelyStart: 1_800_000_001, plannedStart: 1_799_999_001 })).toBeUndefined();
    expect(likelyOf(busy, { likelyStart: 1_800_000_001 })).toBeUndefined();
    expect(likelyOf(rowIn('Running'), { likelyStart: 9 })).toBeUndefined();
  });

  test('shows no planned or likely start that has passed', () => {
    const statusAt = (now: number, over: Partial<WorkloadRow>) =>
      fluxJobStatus(
        rowIn('Waiting', over),
        context({ plannedStart: 1_800_000_600, likelyStart: 1_800_000_001, now }),
      );
    const both = { plannedStart: '2027-01-15T08:10:00Z', likelyStart: '2027-01-15T08:01:00Z' };
    expect(statusAt(1_800_000_060, {})).toMatchObject(both);
    expect(statusAt(1_800_000_061, {})).toMatchObject({ plannedStart: both.plannedStart });
    expect(statusAt(1_800_000_061, {})).not.toHaveProperty('likelyStart');
    for (const key of ['start', 'plannedStart', 'likelyStart'])
      expect(statusAt(1_800_000_601, {})).not.toHaveProperty(key);
    const reserved = statusAt(1_800_000_061, { estimatedStart: 1_800_009_000 });
    expect(reserved).toHaveProperty('estimatedStart');
    expect(reserved).not.toHaveProperty('likelyStart');
  });

  test('shows the nodes and the start time of a running workload, but no position', () => {
    const status = fluxJobStatus(rowIn('Running'), context({ position: 1 }));
    expect(status).toMatchObject({
      nodes: 'node-1',
      nodeCount: 1,
      start: rfc3339(102),
      submitTime: rfc3339(rowIn('Running').submittedAt),
      startTime: rfc3339(102),
    });
    expect(status.allocation).toEqual([{ node: 'node-1', pods: 1, units: { core: '0', memory: '0' } }]);
    expect(status).not.toHaveProperty('position');
    expect(status).not.toHaveProperty('result');
  });

  test('is Ready with the reason while no pod of a grant runs, also after its pods were replaced', () => {
    const wait = { reason: 'ImagePullBackOff', message: 'ImagePullBackOff: registry.example/a:1' };
    for (const phase of ['Ready', 'Running'] as const) {
      const status = fluxJobStatus(rowIn(phase), context({ wait }));
      expect(status.phase).toBe('Ready');
      expect(status.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'False', ...wait }),
      );
    }
  });

  test('says why a workload leaves its nodes', () => {
    const row = rowIn('Running', { evictionReason: 'node node-1 was lost', evictionCause: 'failure' });
    expect(fluxJobStatus(row, context()).conditions).toContainEqual(
      expect.objectContaining({ reason: 'Evicting', message: 'node node-1 was lost; leaving node-1' }),
    );
  });

  test('describes how the workload ended', () => {
    const messages = (row: WorkloadRow) => fluxJobStatus(row, context()).conditions![0]!.message;
    expect(messages(rowIn('Finished'))).toBe('ran for 30 s on node-1');
    expect(messages(rowIn('Finished', { result: 'Cancelled', startedAt: null }))).toBe(
      'finished before any pod started',
    );
  });

  test('keeps the transition time of a condition whose status does not change', () => {
    const before = fluxJobStatus(rowIn('Waiting'), context({ now: 10 }));
    const after = fluxJobStatus(rowIn('Ready'), context({ now: 20, previous: before }));
    const times = Object.fromEntries(after.conditions!.map((c) => [c.type, c.lastTransitionTime]));
    expect(times).toEqual({
      Scheduled: rfc3339(20),
      Ready: rfc3339(10),
      Reconciling: rfc3339(10),
      Stalled: rfc3339(10),
    });
  });

  test('keeps nodes that were freed early, but not the nodes of an earlier grant', () => {
    const nodes = ['node-1', 'node-2'].map((name) => ({ name, units: { core: '0', memory: '0' } }));
    const wide = rowIn('Running', { allocation: { jobid: 7, start: 0, end: 9, nodes } });
    const previous = fluxJobStatus(wide, context());
    expect(fluxJobStatus(rowIn('Running'), context({ previous })).nodes).toBe('node-[1-2]');
    expect(fluxJobStatus(rowIn('Running'), context({ previous, isLowered: true })).nodes).toBe('node-1');
    const again = rowIn('Running', { jobid: 8 });
    expect(fluxJobStatus(again, context({ previous })).nodes).toBe('node-1');
  });
});

test('the spec has the request, with the walltime in whole seconds', () => {
  const row = rowIn('Waiting', { walltime: 1.2, priority: 5 });
  const spec = fluxJobSpec(row, 'batch/v1');
  expect(spec).toMatchObject({
    workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'job-a', uid: 'a' },
    walltimeSeconds: 2,
    priority: 5,
    pods: 1,
  });
  expect(JSON.parse(spec.jobspec!)).toEqual(row.jobspec);
});

describe('the name of a FluxJob', () => {
  test('is composed of name and kind', () => {
    expect(fluxJobName('Job', 'train')).toBe('train-job');
    expect(fluxJobName('Pod', 'train')).toBe('train-pod');
  });

  test('is valid and unique for workloads with the longest names', () => {
    const long = 'x'.repeat(240);
    const names = [`${long}.${'a'.repeat(12)}`, `${long}.${'b'.repeat(12)}`].map((name) =>
      fluxJobName('Job', name),
    );
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(253);
      expect(name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
    }
    expect(new Set(names).size).toBe(2);
  });
});
