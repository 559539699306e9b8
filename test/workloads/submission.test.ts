/** Which queue, how long, how urgent, whose: what a workload's settings and its queue make of it together. */
import { parseConfig } from '../../runtime/config';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import { NO_FACTS } from '../../runtime/jobspec/constraints';
import type { FluxSetupObject } from '../../runtime/kubernetes/custom-resources';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import type { Queue } from '../../runtime/queue/store';
import type { Submission } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { adapters } from '../../runtime/workloads/index';
import { SubmissionBuilder } from '../../runtime/workloads/submission';
import { fluxSetup } from '../fluxsetups/fluxsetup-objects';

const config = parseConfig({ queue: { defaultWalltimeSeconds: 600, maxWalltimeSeconds: 7200 } });
const CLASSES: Readonly<Record<string, number>> = { urgent: 1000, mild: 5 };
const jobs = adapters.get('Job')!;
const pods = adapters.get('Pod')!;

interface World {
  readonly setups: FluxSetupObject[];
  readonly hasOwn?: boolean;
  readonly defaultPriority?: number;
}

function intakeFor({ setups, hasOwn = true, defaultPriority }: World) {
  const submitted: Submission[] = [];
  const invalid: string[] = [];
  const queues = new QueueRegistry(stackQueue(config.queue), hasOwn, () => setups);
  const submit: Queue['submit'] = async (_fence, [submission]) => {
    submitted.push(submission!);
    return [newRow(submission!, submitted.length)];
  };
  const submissionBuilder = new SubmissionBuilder({
    workloadCache: new WorkloadCache({ submit, outcomes: async () => [] } as unknown as Queue, 1),
    queues,
    priorityOf: (name) => (name === undefined ? defaultPriority : CLASSES[name]),
    stackNamespace: 'fluxqueue-system',
    units: config.units,
    clusterFacts: () => NO_FACTS,
    onInvalid: (_object, _adapter, message) => invalid.push(message),
    logger: createLogger('test', 'silent'),
  });
  const read = async (object: Job | Pod, adapter: WorkloadAdapter = jobs): Promise<Submission> => {
    await submissionBuilder.submit(object, adapter);
    expect(invalid).toEqual([]);
    return submitted.at(-1)!;
  };
  return { submissionBuilder, queues, read };
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
  test("is its namespace's FluxSetup, by name or because it is there", async () => {
    const { read } = intakeFor({ setups: [team] });
    expect((await read(job())).queue).toBe('science/team');
    expect((await read(job({ 'fluxqueue/queue': 'team' }))).queue).toBe('science/team');
    expect((await read(job({ 'fluxqueue/queue': 'default' }))).queue).toBe('default');
    expect((await read(job({ 'fluxqueue/queue': 'tema' }))).queue).toBe('science/tema');
  });

  test('changes with the FluxSetups, and with it what it says of walltimes and priorities', async () => {
    const setups: FluxSetupObject[] = [];
    const { submissionBuilder, queues, read } = intakeFor({ setups });
    const object = job({ 'fluxqueue/priority': '99' });
    const row = newRow(await read(object), 1);
    expect(row).toMatchObject({ queue: 'default', walltime: 600, priority: 99 });
    expect(submissionBuilder.changeOf(object, jobs, row)).toBeUndefined();
    setups.push(team);
    queues.invalidate();
    const update = submissionBuilder.changeOf(object, jobs, row);
    expect(update).toMatchObject({ queue: 'science/team', walltime: 300, priority: 50 });
    const moved = { ...row, ...update };
    // Its deletion holds it where it is.
    setups.pop();
    queues.invalidate();
    expect(submissionBuilder.changeOf(object, jobs, moved)?.queue).toBe('science/team');
  });
});

describe('the walltime', () => {
  test.each([
    ['its own', job({ 'fluxqueue/walltime': '20m' }), 1200],
    [
      'its own before its deadline',
      job({ 'fluxqueue/walltime': '20m' }, { activeDeadlineSeconds: 60 }),
      1200,
    ],
    ['its deadline', job({}, { activeDeadlineSeconds: 60 }), 60],
    ["the queue's", job(), 300],
    ["the queue's maximum", job({ 'fluxqueue/walltime': '2h' }), 3600],
    [
      'not the deadline that the queue wrote when it was released before',
      job({ 'fluxqueue/deadline': '60' }, { activeDeadlineSeconds: 60 }),
      300,
    ],
  ])('is %s', async (_, object, walltime) => {
    expect((await intakeFor({ setups: [team] }).read(object)).walltime).toBe(walltime);
  });

  test('of what waits for a queue is planned by the stack', async () => {
    const { read } = intakeFor({ setups: [], hasOwn: false });
    expect(await read(job())).toMatchObject({ queue: 'science/default', walltime: 600 });
  });
});

describe('the priority', () => {
  const given = { 'fluxqueue/priority': '7' };
  test.each([
    ['given', job(given), 7],
    ['given, before its class', job(given, {}, { priorityClassName: 'mild' }), 7],
    ['of its class', job({}, {}, { priorityClassName: 'mild' }), 5],
    ['of its class, cut to the range of the queue', job({}, {}, { priorityClassName: 'urgent' }), 50],
    ['given, raised to the range', job({ 'fluxqueue/priority': '-99' }), -10],
    ["the cluster's default", job(), 3],
    ["the cluster's default, whatever a template claims", job({}, {}, { priority: 40 }), 3],
  ])('is the one %s', async (_, object, priority) => {
    expect((await intakeFor({ setups: [team], defaultPriority: 3 }).read(object)).priority).toBe(priority);
  });

  test('is 0 without any, and the one that the apiserver put into a pod', async () => {
    const { read } = intakeFor({ setups: [] });
    expect((await read(job())).priority).toBe(0);
    const pod: Pod = { metadata: metadata(), spec: { containers: [{ name: 'main' }], priority: 1000 } };
    expect((await read(pod, pods)).priority).toBe(1000);
  });
});

describe('the user', () => {
  test.each([
    ['whom admission saw', { 'fluxqueue/user': 'ada' }, 'ada'],
    ["the namespace's where a controller made it", {}, 'namespace:science'],
    [
      "the namespace's where the stack made it",
      { 'fluxqueue/user': 'system:serviceaccount:fluxqueue-system:fluxqueue-controller' },
      'namespace:science',
    ],
  ])('is %s', async (_, annotations: Record<string, string>, user) => {
    expect((await intakeFor({ setups: [] }).read(job(annotations))).user).toBe(user);
  });
});

test('what it waits for, and whether it may be taken back', async () => {
  const { read } = intakeFor({ setups: [] });
  const annotations = { 'fluxqueue/after': 'prep, afterany:scan', 'fluxqueue/preemptible': 'true' };
  expect(await read(job(annotations))).toMatchObject({
    after: [
      { type: 'afterok', name: 'prep' },
      { type: 'afterany', name: 'scan' },
    ],
    preemptible: true,
  });
});
