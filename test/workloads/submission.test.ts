/** The queue, walltime, priority and user that follow from the settings of a workload and of its queue. */
import { parseConfig } from '../../runtime/config';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import { NO_FACTS } from '../../runtime/jobspec/constraints';
import { NO_STORAGE } from '../../runtime/jobspec/volumes';
import type { FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import type { Queue } from '../../runtime/queue/store';
import type { Submission } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { ENDLESS_SECONDS } from '../../runtime/resources/endless';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { adapters } from '../../runtime/workloads/index';
import { SubmissionBuilder } from '../../runtime/workloads/submission';
import type { SubmissionBuilderOptions } from '../../runtime/workloads/submission-options';
import { fluxSetup } from '../fluxsetups/fluxsetup-objects';

const config = parseConfig({ queue: { defaultWalltimeSeconds: 600, maxWalltimeSeconds: 7200 } });
const CLASSES: Readonly<Record<string, number>> = { urgent: 1000, mild: 5 };
const jobs = adapters.get('Job')!;
const pods = adapters.get('Pod')!;

interface Given {
  readonly setups: FluxSetupObject[];
  readonly hasOwn?: boolean;
  readonly defaultPriority?: number;
  readonly creatorOf?: SubmissionBuilderOptions['creatorOf'];
}

function builderFor({ setups, hasOwn = true, defaultPriority, creatorOf }: Given) {
  const submitted: Submission[] = [];
  const invalid: string[] = [];
  const reduced: string[] = [];
  const queues = new QueueRegistry(stackQueue(config.queue), hasOwn, () => setups);
  const submit: Queue['submit'] = async (_fence, [submission]) => {
    submitted.push(submission!);
    return [newRow(submission!, submitted.length)];
  };
  const submissionBuilder = new SubmissionBuilder({
    workloadCache: new WorkloadCache({ submit, outcomes: async () => [] } as unknown as Queue, 1),
    queues,
    priorityOf: (name) => (name === undefined ? defaultPriority : CLASSES[name]),
    units: config.units,
    clusterFacts: () => NO_FACTS,
    nodeOf: (name) => ({ name, units: {} }),
    runtimeClassOf: () => undefined,
    limitRangesOf: () => [],
    storage: NO_STORAGE,
    groupSeconds: 600,
    ...(creatorOf && { creatorOf }),
    onInvalid: (_object, _adapter, message) => invalid.push(message),
    onReduced: (_object, _adapter, message) => reduced.push(message),
    logger: createLogger('test', 'silent'),
  });
  const read = async (object: Job | Pod, adapter: WorkloadAdapter = jobs): Promise<Submission> => {
    await submissionBuilder.submit(object, adapter);
    expect(invalid).toEqual([]);
    return submitted.at(-1)!;
  };
  return { submissionBuilder, queues, read, submitted, invalid, reduced };
}

const metadata = (annotations: Record<string, string> = {}) => ({
  name: 'train',
  namespace: 'science',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  annotations,
});

function job(annotations: Record<string, string> = {}, spec: object = {}, pod: object = {}): Job {
  return {
    metadata: metadata(annotations),
    spec: { suspend: true, ...spec, template: { spec: { containers: [{ name: 'main' }], ...pod } } },
  };
}

const team = fluxSetup('team', {
  walltime: { default: '5m', max: '1h' },
  priority: { min: -10, max: 50 },
});

describe('the queue', () => {
  test('is a FluxSetup of the namespace, by name or as the only one', async () => {
    const { read } = builderFor({ setups: [team] });
    expect((await read(job())).queue).toBe('science/team');
    expect((await read(job({ 'fluxqueue/queue': 'team' }))).queue).toBe('science/team');
    expect((await read(job({ 'fluxqueue/queue': 'default' }))).queue).toBe('science/default');
    expect((await read(job({ 'fluxqueue/queue': 'tema' }))).queue).toBe('science/tema');
  });

  test('changes with the FluxSetups, and so do the limits of walltime and priority', async () => {
    const setups: FluxSetupObject[] = [];
    const { submissionBuilder, queues, read } = builderFor({ setups });
    const object = job({ 'fluxqueue/priority': '99' });
    const row = newRow(await read(object), 1);
    expect(row).toMatchObject({ queue: 'default', walltime: 600, priority: 99 });
    expect(submissionBuilder.changeOf(object, jobs, row)).toBeUndefined();
    setups.push(team);
    queues.invalidate();
    const granted = { ...row, queue: 'science/team', walltime: 300, priority: 50, phase: 'Ready' } as const;
    expect(submissionBuilder.changeOf(object, jobs, granted)).toBeUndefined();
    expect(submissionBuilder.changeOf(object, jobs, { ...granted, phase: 'Waiting' })).toBeDefined();
    const update = submissionBuilder.changeOf(object, jobs, row);
    expect(update).toMatchObject({ queue: 'science/team', walltime: 300, priority: 50 });
    const moved = { ...row, ...update };
    // After the FluxSetup is deleted, the workload stays in its queue.
    setups.pop();
    queues.invalidate();
    expect(submissionBuilder.changeOf(object, jobs, moved)?.queue).toBe('science/team');
  });
});

describe('the walltime', () => {
  test.each([
    ['its setting', job({ 'fluxqueue/walltime': '20m' }), 1200],
    [
      'its setting and not its deadline',
      job({ 'fluxqueue/walltime': '20m' }, { activeDeadlineSeconds: 60 }),
      1200,
    ],
    ['its deadline', job({}, { activeDeadlineSeconds: 60 }), 60],
    ['the default of the queue', job(), 300],
    ['the maximum of the queue', job({ 'fluxqueue/walltime': '2h' }), 3600],
    [
      'the default and not the deadline that an earlier release wrote',
      job({ 'fluxqueue/deadline': '60/none' }, { activeDeadlineSeconds: 60 }),
      300,
    ],
    [
      'the deadline of its user and not the one that an earlier release wrote',
      job({ 'fluxqueue/deadline': '60/1800' }, { activeDeadlineSeconds: 60 }),
      1800,
    ],
  ])('is %s', async (_, object, walltime) => {
    expect((await builderFor({ setups: [team] }).read(object)).walltime).toBe(walltime);
  });

  describe('of a pod that always restarts', () => {
    const pod = (annotations: Record<string, string> = {}, spec: object = {}): Pod => ({
      metadata: metadata(annotations),
      spec: { containers: [{ name: 'main' }], schedulingGates: [{ name: 'fluxqueue' }], ...spec },
    });

    test.each([
      ['has no end, whatever its queue allows', pod(), ENDLESS_SECONDS],
      ['has no end if it says so', pod({}, { restartPolicy: 'Always' }), ENDLESS_SECONDS],
      ['is its setting', pod({ 'fluxqueue/walltime': '20m' }), 1200],
      ['is its deadline', pod({}, { activeDeadlineSeconds: 60 }), 60],
      ['is the default for one that does not', pod({}, { restartPolicy: 'OnFailure' }), 300],
    ])('%s', async (_, object, walltime) => {
      const read = await builderFor({ setups: [team] }).read(object, pods);
      expect([read.walltime, read.jobspec.attributes.system.duration]).toEqual([walltime, walltime]);
    });
  });

  test('is the default of the stack for a workload that has no queue yet', async () => {
    const { read } = builderFor({ setups: [], hasOwn: false });
    expect(await read(job())).toMatchObject({ queue: 'science/default', walltime: 600 });
  });
});

describe('the priority', () => {
  const given = { 'fluxqueue/priority': '7' };
  test.each([
    ['of its setting', job(given), 7],
    ['of its setting and not of its class', job(given, {}, { priorityClassName: 'mild' }), 7],
    ['of its class', job({}, {}, { priorityClassName: 'mild' }), 5],
    ['of its class, limited to the range of the queue', job({}, {}, { priorityClassName: 'urgent' }), 50],
    ['of its setting, raised to the range of the queue', job({ 'fluxqueue/priority': '-99' }), -10],
    ['of the default PriorityClass', job(), 3],
    ['of the default PriorityClass, whatever the template says', job({}, {}, { priority: 40 }), 3],
  ])('is the one %s', async (_, object, priority) => {
    expect((await builderFor({ setups: [team], defaultPriority: 3 }).read(object)).priority).toBe(priority);
  });

  test('is 0 without a class, and for a pod the one that the apiserver resolved', async () => {
    const { read } = builderFor({ setups: [] });
    expect((await read(job())).priority).toBe(0);
    const pod: Pod = { metadata: metadata(), spec: { containers: [{ name: 'main' }], priority: 1000 } };
    expect((await read(pod, pods)).priority).toBe(1000);
  });
});

describe('the user', () => {
  test.each([
    ['the one that admission recorded', { 'fluxqueue/user': 'ada' }, 'ada'],
    ['the namespace if a controller created the workload', {}, 'namespace:science'],
    [
      'the namespace if the stack created the workload',
      { 'fluxqueue/user': 'system:serviceaccount:fluxqueue-system:fluxqueue-controller' },
      'namespace:science',
    ],
    [
      'the namespace of the workload if a ServiceAccount of it created it',
      { 'fluxqueue/user': 'system:serviceaccount:science:builder-7' },
      'namespace:science',
    ],
    [
      'the namespace of the workload if a GitOps controller created it',
      { 'fluxqueue/user': 'system:serviceaccount:argocd:argocd-application-controller' },
      'namespace:science',
    ],
  ])('is %s', async (_, annotations: Record<string, string>, user) => {
    expect((await builderFor({ setups: [] }).read(job(annotations))).user).toBe(user);
  });

  test('is the one of the object for which a controller made the workload', async () => {
    const trainer = 'system:serviceaccount:kubeflow-system:kubeflow-trainer-controller-manager';
    const creatorOf = (kind: string, { metadata: made }: KubernetesObject) =>
      ({ metadata: { ...made, annotations: { 'fluxqueue/user': `${kind}-ada` } } }) as KubernetesObject;
    const { read, submissionBuilder } = builderFor({ setups: [], creatorOf });
    const row = await read(job({ 'fluxqueue/user': trainer, 'fluxqueue/walltime': '90s' }));
    expect([row.user, row.walltime]).toEqual(['Job-ada', 90]);
    const unread = job({ 'fluxqueue/user': trainer, 'fluxqueue/walltime': 'soon' });
    expect(submissionBuilder.preview(unread, jobs).user).toBe('Job-ada');
  });
});

test('dependencies, preemptibility and checkpoints are read from the settings', async () => {
  const { read } = builderFor({ setups: [] });
  const annotations = {
    'fluxqueue/after': 'prep, afterany:scan',
    'fluxqueue/preemptible': 'true',
    'fluxqueue/checkpoint-interval': '30m',
  };
  expect(await read(job(annotations))).toMatchObject({
    after: [
      { type: 'afterok', name: 'prep' },
      { type: 'afterany', name: 'scan' },
    ],
    preemptible: true,
    jobspec: { attributes: { user: { checkpointSeconds: 1800 } } },
  });
});

describe('an object that cannot be read', () => {
  const broken = (spec: unknown) => ({ metadata: metadata(), spec }) as unknown as Job;
  const inJob = (pod: unknown) => broken({ suspend: true, template: { spec: pod } });

  test.each([
    ['a template without a spec', broken({ suspend: true, template: {} })],
    ['no template', broken({ suspend: true })],
    ['containers that are null', inJob({ containers: [null] })],
    ['an odd quantity', inJob({ containers: [{ resources: { requests: { cpu: '1e999' } } }] })],
    [
      'a time that is none',
      { ...inJob({ containers: 7 }), metadata: { ...metadata(), creationTimestamp: '?' } },
    ],
  ])('is queued with the reason: %s', async (_, object) => {
    const { submissionBuilder, submitted, invalid } = builderFor({ setups: [] });
    await submissionBuilder.submit(object, jobs);
    const [submission] = submitted;
    expect(submission).toMatchObject({ uid: 'u', queue: 'default', user: 'namespace:science', pods: 1 });
    expect(invalid).toEqual([submission!.jobspec.attributes.user!.invalid]);
    expect(submissionBuilder.changeOf(object, jobs, newRow(submission!, 1))).toBeUndefined();
    expect(invalid).toHaveLength(1);
  });

  test('is queued as usual once its user has corrected it, and back', async () => {
    const { submissionBuilder, read, invalid } = builderFor({ setups: [] });
    const row = newRow(await read(job()), 1);
    const update = submissionBuilder.changeOf(job({ 'fluxqueue/walltime': 'soon' }), jobs, row);
    expect(invalid).toEqual([expect.stringMatching(/^FLUXQ_SETTING_INVALID/)]);
    expect(submissionBuilder.changeOf(job(), jobs, { ...row, ...update })).toMatchObject({
      jobspec: row.jobspec,
      walltime: row.walltime,
    });
  });

  test('is no grant to adopt', () => {
    const { submissionBuilder } = builderFor({ setups: [] });
    expect(submissionBuilder.submissionOf(broken({}), jobs, undefined)).toBeUndefined();
  });
});

describe('a limit of the queue', () => {
  test.each<[string, Job, string[]]>([
    [
      'a walltime',
      job({ 'fluxqueue/walltime': '90m' }),
      ['walltime 90m is reduced to 1h, the maximum of queue science/team'],
    ],
    [
      'an activeDeadlineSeconds',
      job({}, { activeDeadlineSeconds: 7201 }),
      ['walltime 7201s is reduced to 1h, the maximum of queue science/team'],
    ],
    [
      'a priority',
      job({ 'fluxqueue/priority': '51' }),
      ['priority 51 is reduced to 50, the maximum of queue science/team'],
    ],
    [
      'a low priority',
      job({ 'fluxqueue/priority': '-11' }),
      ['priority -11 is raised to -10, the minimum of queue science/team'],
    ],
    [
      'a PriorityClass',
      job({}, {}, { priorityClassName: 'urgent' }),
      ['priority 1000 is reduced to 50, the maximum of queue science/team'],
    ],
    [
      "the stack's own queue",
      job({ 'fluxqueue/queue': 'default' }),
      ['queue default is not allowed by the FluxSetups of this namespace, so queue science/default is meant'],
    ],
  ])('that changes %s is noted and told', async (_, object, expected) => {
    const { read, reduced } = builderFor({ setups: [team] });
    const { jobspec, shape } = await read(object);
    expect(jobspec.attributes.user?.reduced).toEqual(expected);
    expect(reduced).toEqual([expected.join('; ')]);
    expect(shape).toBe((await read(job())).shape);
  });

  test('that changes nothing is not mentioned', async () => {
    const { read, reduced } = builderFor({ setups: [team, fluxSetup('default')] });
    const asked = { 'fluxqueue/queue': 'team', 'fluxqueue/walltime': '1h', 'fluxqueue/priority': '50' };
    for (const object of [job(asked), job({ 'fluxqueue/queue': 'default' })])
      expect((await read(object)).jobspec.attributes.user?.reduced).toBeUndefined();
    expect(reduced).toEqual([]);
  });
});
