/** When a template is asked about by a dry run, how often, and what becomes of its workloads if no answer comes. */
import { GATE, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { ApiError, timedOut } from '../../runtime/kubernetes/errors';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { Logger } from '../../runtime/observability/log';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { DryRuns } from '../../runtime/workloads/dry-runs';
import { adapters } from '../../runtime/workloads/index';
import { InjectedCharges } from '../../runtime/workloads/injected-charges';
import { jobAdapter } from '../../runtime/workloads/job';
import { ManualClock, settle } from '../kubernetes/manual-clock';
import { recordingLogger } from '../kubernetes/recording-logger';

const adapter = jobAdapter as unknown as WorkloadAdapter;
const SIDECAR = { name: 'mesh', image: 'none', resources: { requests: { cpu: '1' } } };

function jobOf(name: string, labels: Readonly<Record<string, string>> = {}, namespace = 'science'): Job {
  const container = { name: 'main', image: 'none', resources: { requests: { cpu: '2' } } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace,
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      suspend: true,
      completionMode: 'Indexed',
      template: {
        metadata: { labels: { ...labels, 'batch.kubernetes.io/job-name': name } },
        spec: { containers: [container] },
      },
    },
  } as Job;
}

const keyOf = ({ metadata }: Job) => ({
  kind: 'Job',
  namespace: metadata.namespace!,
  name: metadata.name,
});
const refusal = (status: number, message: string) =>
  new ApiError({ status, reason: 'Unknown', message, retryAfterSeconds: undefined });

/** A controller of which the answers of the apiserver are given. */
class World {
  readonly clock = new ManualClock();
  readonly logger = recordingLogger();
  version: string | undefined = 'a';
  isKnown = true;
  /** Answers a dry run. */
  answer: (pod: Pod) => Promise<Pod> = async (pod) => {
    return { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, SIDECAR] } };
  };
  readonly jobs = new Map<string, Job>();
  readonly asked: Pod[] = [];
  readonly enqueued: string[] = [];
  readonly news: string[] = [];
  readonly charges = new InjectedCharges(
    ({ spec }) => spec,
    () => this.version,
  );
  readonly dryRuns: DryRuns;

  constructor() {
    const { logger, clock, charges } = this;
    const lookUp = (path: string) => this.jobs.get(path.split('/').at(-1)!);
    const client = {
      get: async (path: string) => {
        const found = lookUp(path);
        if (found === undefined) throw refusal(404, 'not found');
        return found;
      },
      create: async (_path: string, pod: Pod, options: object) => {
        expect(options).toMatchObject({ dryRun: true, retries: 0, timeout: 3_000 });
        this.asked.push(pod);
        return this.answer(pod);
      },
    };
    this.dryRuns = new DryRuns({
      client: client as unknown as ConstructorParameters<typeof DryRuns>[0]['client'],
      admission: this.admission(),
      charges,
      onPod: (template, pod, version) => {
        if (charges.expect(template, pod, version)) this.news.push(template.namespace);
      },
      enqueue: ({ name }) => this.enqueued.push(name),
      logger: logger as unknown as Logger,
      time: { clock, random: () => 0.5, wall: () => 0 },
    });
  }

  private admission() {
    const world = this;
    return {
      get isKnown() {
        return world.isKnown;
      },
      versionFor: () => world.version,
    };
  }

  submit(job: Job): number | undefined {
    this.jobs.set(job.metadata.name, job);
    return this.dryRuns.awaited(keyOf(job), job, adapter)?.after;
  }

  added(job: Job) {
    const [podSet] = adapter.demand(job).podSets;
    return this.charges.of(podSet, job.metadata.namespace!, adapter)?.requests;
  }

  said(level: string): readonly string[] {
    return this.logger.lines.filter((line) => line.level === level).map(({ message }) => message);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

test('a Job waits for the dry run of its template, and is then charged what its pods will request', async () => {
  const job = jobOf('first');
  expect(world.submit(job)).toBe(5_000);
  await settle();
  expect(world.enqueued).toEqual(['first']);
  expect(world.submit(job)).toBeUndefined();
  expect(world.added(job)).toEqual({ cpu: '1' });
  expect(world.news).toEqual(['science']);
});

test('the pod of a dry run is as the Job controller makes it', async () => {
  world.submit(jobOf('first', { app: 'a' }));
  await settle();
  expect(world.asked[0]).toMatchObject({
    metadata: {
      generateName: 'first-0-',
      namespace: 'science',
      labels: { app: 'a', 'batch.kubernetes.io/job-completion-index': '0' },
      ownerReferences: [{ kind: 'Job', name: 'first', uid: 'first', controller: true }],
    },
  });
});

test('a thousand Jobs of one template cost one dry run, and none of them waits longer than the first', async () => {
  const jobs = Array.from({ length: 1_000 }, (_, i) => jobOf(`job-${i}`));
  for (const job of jobs) expect(world.submit(job)).toBe(5_000);
  await settle();
  expect(world.enqueued).toHaveLength(1_000);
  for (const job of jobs) expect([world.submit(job), world.added(job)]).toEqual([undefined, { cpu: '1' }]);
  expect(world.asked).toHaveLength(1);
});

test('a thousand Jobs that differ by the name of their run cost three dry runs', async () => {
  for (let i = 0; i < 1_000; i++) {
    const job = jobOf(`job-${i}`, { run: `${i}` });
    if (world.submit(job) !== undefined) await settle();
    expect(world.added(job)).toEqual({ cpu: '1' });
  }
  expect(world.asked).toHaveLength(3);
});

test('a label by which a webhook decides is asked about, also beside the names of runs', async () => {
  world.answer = async (pod) =>
    pod.metadata.labels?.mesh === 'on'
      ? { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, SIDECAR] } }
      : pod;
  for (let i = 0; i < 20; i++) {
    const mesh = i % 5 === 4 ? 'on' : 'off';
    const job = jobOf(`job-${i}`, { run: `${i}`, mesh });
    if (world.submit(job) !== undefined) await settle();
    expect([i, world.added(job)]).toEqual([i, mesh === 'on' ? { cpu: '1' } : undefined]);
  }
  expect(world.asked.length).toBeLessThan(8);
});

test('nothing is asked where nothing changes pods, and of pods that exist', () => {
  world.version = undefined;
  expect(world.submit(jobOf('first'))).toBeUndefined();
  world.version = 'a';
  const job = jobOf('pod');
  expect(
    world.dryRuns.awaited(keyOf(job), job, { ...adapter, podsExist: true } as WorkloadAdapter),
  ).toBeUndefined();
  expect(world.asked).toEqual([]);
});

test('once something else changes pods, a Job that waits is asked about again, and does not wait for it', async () => {
  const job = jobOf('first');
  world.submit(job);
  await settle();
  world.dryRuns.follow(job, adapter);
  await settle();
  expect(world.asked).toHaveLength(1);
  world.version = 'b';
  world.answer = async (pod) => pod;
  world.dryRuns.follow(job, adapter);
  expect(world.added(job)).toEqual({ cpu: '1' });
  await settle();
  expect(world.added(job)).toBeUndefined();
  expect([world.asked.length, world.news]).toEqual([2, ['science', 'science']]);
});

test('a real pod that says something else is believed for its like, and no dry run is made of them any more', async () => {
  const [first, second] = [jobOf('first', { app: 'a' }), jobOf('second', { app: 'b' })];
  world.answer = async (pod) => pod;
  world.submit(first);
  await settle();
  expect([world.submit(first), world.added(first)]).toEqual([undefined, undefined]);
  const { spec } = first.spec.template;
  const pod = {
    metadata: { name: 'p', annotations: { [JOBID_ANNOTATION]: '7' } },
    spec: { ...spec, containers: [...spec.containers, SIDECAR] },
  };
  const row = { uid: 'first', jobid: 7, allocation: {}, jobspec: { attributes: {} } };
  expect(world.charges.learn({ object: first, adapter, row, pods: [pod] } as never)).toBe(true);
  expect([world.submit(second), world.added(second)]).toEqual([undefined, { cpu: '1' }]);
  expect(world.asked).toHaveLength(1);
  world.version = 'b';
  expect(world.submit(second)).toBe(5_000);
});

test('a webhook that does not answer holds a Job for five seconds, and the next one of its namespace not at all', async () => {
  world.answer = () => new Promise(() => undefined);
  const [first, second] = [jobOf('first'), jobOf('second')];
  world.submit(first);
  await world.clock.advance(2_000);
  expect(world.submit(second)).toBe(3_000);
  await world.clock.advance(3_000);
  expect([world.submit(first), world.submit(second)]).toEqual([undefined, undefined]);
  // What the client does with a request that takes longer than its timeout.
  const other = new World();
  other.answer = async () => {
    throw timedOut('POST /pods', 3_000);
  };
  other.submit(jobOf('first'));
  await settle();
  expect(other.enqueued).toEqual(['first']);
  expect(other.submit(jobOf('first'))).toBeUndefined();
  expect(other.submit(jobOf('other', { app: 'other' }))).toBeUndefined();
  expect(other.submit(jobOf('elsewhere', {}, 'elsewhere'))).toBe(5_000);
  expect(other.asked).toHaveLength(1);
  await other.clock.advance(60_000);
  expect(other.submit(jobOf('other', { app: 'other' }))).toBe(5_000);
});

test.each([
  ['a webhook without dry runs', refusal(400, 'admission webhook "x" does not support dry run')],
  ['a ResourceQuota', refusal(403, 'pods "x" is forbidden: exceeded quota: one')],
  ['a policy', refusal(422, 'ValidatingAdmissionPolicy "x" denied request')],
])('a refusal by %s is said once, and the Job is queued as its template says', async (_, error) => {
  world.answer = async () => {
    throw error;
  };
  for (const name of ['a', 'b', 'c']) {
    const job = jobOf(name, { app: name });
    world.submit(job);
    await settle();
    expect([world.submit(job), world.added(job)]).toEqual([undefined, undefined]);
  }
  expect(world.said('warn')).toHaveLength(1);
  expect(world.asked).toHaveLength(3);
  await world.clock.advance(60_000);
  const again = jobOf('a', { app: 'a' });
  expect(world.submit(again)).toBe(5_000);
  await settle();
  expect([world.submit(again), world.said('warn').length]).toEqual([undefined, 1]);
});

test('an edited Job, and a deleted one, are not compared with what the watch shows of them', async () => {
  const job = jobOf('first');
  const wait = () => world.dryRuns.awaited(keyOf(job), job, adapter)?.after;
  world.jobs.set('first', { ...job, metadata: { ...job.metadata, generation: 2 } });
  expect(wait()).toBe(5_000);
  await settle();
  expect([world.enqueued, world.asked, wait()]).toEqual([['first'], [], undefined]);
  await world.clock.advance(1_000);
  world.jobs.delete('first');
  expect(wait()).toBe(5_000);
  await settle();
  expect([wait(), world.asked, world.said('warn')]).toEqual([undefined, [], []]);
});

test('until the webhooks and policies are listed, a new Job waits for a second at most', async () => {
  world.isKnown = false;
  expect(world.submit(jobOf('first'))).toBe(100);
  await world.clock.advance(1_000);
  expect(world.submit(jobOf('first'))).toBeUndefined();
  expect(world.asked).toEqual([]);
});

test.each([
  ['without a template', { Worker: { replicas: 1 } }],
  ['with a template that is none', { Worker: { replicas: 1, template: { spec: { containers: 'x' } } } }],
  ['with fewer pods than none', { Worker: { replicas: -1, template: { spec: { containers: [] } } } }],
])('a leader begins beside what cannot be read: a kind %s', async (_, sets) => {
  const ofKind = adapters.get('MPIJob')!;
  const { metadata } = jobOf('mpi');
  const object = { metadata, spec: { mpiReplicaSpecs: sets } };
  const charged = { attributes: { user: { injected: { cpu: '3' } } }, tasks: [{ slot: 'a' }, { slot: 'b' }] };
  const row = { uid: 'mpi', jobid: 1, allocation: { nodes: [] }, jobspec: charged };
  const of = { ...metadata, annotations: { [JOBID_ANNOTATION]: '1' } };
  const pod = { metadata: of, spec: { containers: [], schedulingGates: [{ name: GATE }] } };
  const job = { object: jobOf('first'), adapter, row: { ...row, uid: 'first', allocation: null }, pods: [] };
  const active = [{ object, adapter: ofKind, row, pods: [pod] }, job];
  await world.charges.continueWith(active as never, { isOver: false, rest: async () => undefined } as never);
  expect(world.added(jobOf('first'))).toEqual({ cpu: '3' });
});

test('what a leader before has charged is not asked about until something else changes pods', async () => {
  const job = jobOf('first');
  const jobspec = { attributes: { user: { injected: { cpu: '3' } } } };
  const row = { uid: 'first', jobid: 1, allocation: null, jobspec };
  const active = [{ object: job, adapter, row, pods: [] }];
  await world.charges.continueWith(active as never, { isOver: false, rest: async () => undefined } as never);
  world.jobs.set('first', job);
  world.dryRuns.follow(job, adapter);
  await settle();
  expect([world.asked, world.added(job)]).toEqual([[], { cpu: '3' }]);
  world.version = 'b';
  world.dryRuns.follow(job, adapter);
  await settle();
  expect([world.asked.length, world.added(job)]).toEqual([1, { cpu: '1' }]);
});
