/** Single steps of one MiniCluster against an apiserver of paper; the life of it is in minicluster.test.ts. */
import { ADMITTED_LABEL, GANG_SIZE, HOLD } from '../../constructs/api/labels';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { Job } from '../../runtime/kubernetes/types';
import type { Manifest } from '../../runtime/miniclusters/manifests';
import type { Part } from '../../runtime/miniclusters/prune';
import { MiniClusterReconciler } from '../../runtime/miniclusters/reconciler';
import type { MiniCluster } from '../../runtime/miniclusters/resource';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { rowIn } from '../queue/rows';
import { CREATED, cluster, job, NOW } from './objects';

const KEY = 'science/hello';

/** What the reconciler sees, and what it did. */
class FakeApiserver {
  cluster: MiniCluster | undefined;
  job: Job | undefined;
  row: WorkloadRow | undefined;
  parts: Part[] = [];
  now = NOW;
  /** `verb kind`, in order. */
  readonly calls: string[] = [];
  readonly bodies: Manifest[] = [];
  readonly told: EventNote[] = [];
  /** Refused from now on: `verb path` ends with this. */
  refuse: { readonly call: string; readonly error: ApiError } | undefined;
  private readonly reconciler: MiniClusterReconciler;

  constructor(spec: Partial<MiniClusterSpec> = {}) {
    this.cluster = cluster(spec);
    this.reconciler = new MiniClusterReconciler({
      client: this.client(),
      clusterOf: () => this.cluster,
      jobOf: () => this.job,
      statefulSetOf: () => undefined,
      partsOf: () => this.parts,
      podsOf: () => [],
      rowOf: () => this.row,
      recordEvent: (_, news) => this.told.push(news),
      now: () => this.now,
    });
  }

  /** @returns what it did, and in how many seconds it looks again */
  async step(): Promise<{ calls: string[]; again: number | undefined }> {
    this.calls.length = 0;
    const again = await this.reconciler.reconcile(KEY);
    return { calls: [...this.calls], again: again === undefined ? undefined : again.after / 1000 };
  }

  get status() {
    return this.cluster!.status!;
  }

  condition(wanted: string) {
    return this.status.conditions!.find(({ type }) => type === wanted)!;
  }

  body(kind: string): Manifest | undefined {
    return this.bodies.findLast((body) => body.kind === kind);
  }

  /** Its Job as the apiserver made it, seen from now on. */
  made(spec: Partial<Job['spec']> = {}, status: Job['status'] = {}, owner = 'u'): void {
    const made = job(spec, status);
    const ownerReferences = [
      {
        apiVersion: 'flux-framework.org/v1alpha2',
        kind: 'MiniCluster',
        name: 'hello',
        uid: owner,
        controller: true,
      },
    ];
    this.job = {
      ...made,
      metadata: { ...made.metadata, ownerReferences, labels: { [ADMITTED_LABEL]: 'true' } },
    };
  }

  edit(spec: Partial<MiniClusterSpec>): void {
    const { metadata } = this.cluster!;
    this.cluster = {
      ...this.cluster!,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...this.cluster!.spec, ...spec },
    };
  }

  private client(): KubernetesClient {
    const call = (verb: string, path: string, body: object) => {
      const at = `${verb} ${path.replace(/^.*namespaces\/science\//, '')}`;
      this.calls.push(at);
      if (this.refuse !== undefined && at === this.refuse.call) throw this.refuse.error;
      this.bodies.push(body as Manifest);
    };
    return {
      patch: async (path: string, body: object, type: string) => {
        call(type === 'apply' ? 'apply' : 'patch', path, body);
        if (path.endsWith('/status')) this.keepStatus((body as { status: MiniCluster['status'] }).status!);
      },
      create: async (path: string, body: object) => call('create', path, body),
      delete: async (path: string, options: object) => call('delete', path, options),
    } as unknown as KubernetesClient;
  }

  private keepStatus(patch: NonNullable<MiniCluster['status']>): void {
    const status = Object.fromEntries(
      Object.entries({ ...this.cluster!.status, ...patch }).filter(([, value]) => value !== null),
    );
    this.cluster = { ...this.cluster!, status };
  }
}

const refusal = (status: number, message: string) =>
  new ApiError({ status, reason: 'Unknown', message, retryAfterSeconds: undefined });
const IMMUTABLE = refusal(422, 'spec.template: Invalid value: {}: field is immutable');
const ALL = [
  'apply configmaps/hello-config',
  'apply configmaps/hello-entrypoint',
  'apply services/hello',
  'create secrets',
  'apply jobs/hello',
];
const STATUS = 'patch miniclusters/hello/status';

test('makes everything, its Job last, and says that it was requested', async () => {
  const paper = new FakeApiserver();
  const { calls } = await paper.step();
  expect(calls).toEqual([...ALL, STATUS]);
  for (const kind of ['ConfigMap', 'Service', 'Secret', 'Job'])
    expect(paper.body(kind)!.metadata).toMatchObject({
      ownerReferences: [{ kind: 'MiniCluster', name: 'hello', uid: 'u', controller: true }],
    });
  expect(paper.body('Job')!.spec).not.toHaveProperty('suspend');
  expect(paper.status.phase).toBe('Requested');
});

test('seen again, nothing is done; after some minutes what somebody changed is put right', async () => {
  const paper = new FakeApiserver();
  await paper.step();
  paper.made({ suspend: true });
  paper.row = rowIn('Waiting');
  expect((await paper.step()).calls).toEqual([STATUS]);
  expect(await paper.step()).toEqual({ calls: [], again: 300 });
  paper.now += 301;
  expect((await paper.step()).calls).toEqual([ALL[4], ...ALL.slice(0, 3)]);
});

test('a certificate of its user is taken as it is, one by name is left alone', async () => {
  const named = new FakeApiserver({ flux: { curveCertSecret: 'mine' } });
  expect((await named.step()).calls).not.toContain('create secrets');
});

test('the Secret that is there is left over for a moment, then it is its user’s', async () => {
  const paper = new FakeApiserver();
  paper.refuse = { call: 'create secrets', error: refusal(409, 'secrets "hello-curve" already exists') };
  paper.now = Date.parse(CREATED) / 1000 + 2;
  const early = await paper.step();
  expect(early.calls).not.toContain('apply jobs/hello');
  expect(early.again).toBe(1);
  paper.now += 10;
  expect((await paper.step()).calls).toContain('apply jobs/hello');
});

describe('a change of what is there', () => {
  async function running(spec: Partial<MiniClusterSpec> = {}): Promise<FakeApiserver> {
    const paper = new FakeApiserver(spec);
    await paper.step();
    paper.made({}, { active: 4, ready: 4 });
    paper.row = rowIn('Running');
    await paper.step();
    expect(paper.status.phase).toBe('Running');
    return paper;
  }

  test('of its size goes to the Job first', async () => {
    const paper = await running({ maxSize: 8 });
    expect(paper.body('Job')!.metadata.annotations).toMatchObject({ [GANG_SIZE]: '4' });
    paper.edit({ size: 6 });
    expect((await paper.step()).calls.slice(0, 2)).toEqual([
      'apply jobs/hello',
      'apply configmaps/hello-config',
    ]);
    expect(paper.body('Job')!.spec).toMatchObject({ parallelism: 6, completions: 6 });
  });

  test('that can not be made changes nothing at all, is said, and is over when it is taken back', async () => {
    const paper = await running();
    paper.refuse = { call: 'apply jobs/hello', error: IMMUTABLE };
    paper.edit({ containers: [{ image: 'other' }] });
    expect(await paper.step()).toEqual({ calls: ['apply jobs/hello', STATUS], again: 30 });
    expect(paper.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Immutable' });
    expect(paper.condition('Ready').status).toBe('True');
    expect(paper.told.at(-1)).toMatchObject({ type: 'Warning', reason: 'Immutable' });
    // Tried again now and then, without another word.
    const told = paper.told.length;
    paper.now += 31;
    expect((await paper.step()).calls).toEqual(['apply jobs/hello']);
    expect(paper.told).toHaveLength(told);
    paper.refuse = undefined;
    paper.edit({ containers: [{ image: 'flux' }] });
    await paper.step();
    expect(paper.condition('Stalled').status).toBe('False');
  });

  test('of the renderer, which its user did not make, troubles nobody', async () => {
    const paper = await running();
    const next = new FakeApiserver();
    next.cluster = paper.cluster;
    next.job = paper.job;
    next.row = paper.row;
    next.refuse = { call: 'apply jobs/hello', error: IMMUTABLE };
    expect((await next.step()).calls).toEqual(['apply jobs/hello']);
    expect(next.condition('Stalled').status).toBe('False');
  });

  test('by its user is refused by a restarted controller too', async () => {
    const paper = await running();
    paper.refuse = { call: 'apply jobs/hello', error: IMMUTABLE };
    paper.edit({ containers: [{ image: 'other' }] });
    await paper.step();
    const next = new FakeApiserver();
    next.cluster = paper.cluster;
    next.job = paper.job;
    next.row = paper.row;
    next.refuse = paper.refuse;
    await next.step();
    expect(next.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Immutable' });
  });
});

test('a spec that is wrong: nothing is made, all of it is said', async () => {
  const paper = new FakeApiserver({ size: 2, maxSize: 1, minSize: 3 });
  expect(await paper.step()).toEqual({ calls: [STATUS], again: undefined });
  const { message, reason } = paper.condition('Stalled');
  expect(reason).toBe('Invalid');
  expect(message).toMatch(/spec\.maxSize: .*\n?.*spec\.minSize: |spec\.minSize: .*\n.*spec\.maxSize: /s);
});

test('a Job of another owner is waited for, then named', async () => {
  const paper = new FakeApiserver();
  paper.made({}, {}, 'another');
  paper.now = Date.parse(CREATED) / 1000 + 2;
  expect(await paper.step()).toEqual({ calls: [STATUS], again: 1 });
  expect(paper.condition('Stalled').status).toBe('False');
  paper.now += 10;
  expect((await paper.step()).again).toBe(30);
  expect(paper.condition('Stalled').reason).toBe('NameTaken');
});

test('services that were taken out of it go; what is not its own stays', async () => {
  const paper = new FakeApiserver({ services: [{ name: 'db', image: 'db', ports: [80] }] });
  await paper.step();
  paper.made();
  const part = (kind: Part['kind'], name: string, owner: string): Part => {
    const { metadata } = paper.job!;
    const ownerReferences = [{ ...metadata.ownerReferences![0]!, uid: owner }];
    return { kind, metadata: { ...metadata, name, uid: `uid-${name}`, ownerReferences } };
  };
  paper.parts = [
    part('Service', 'hello', 'u'),
    part('Service', 'hello-db', 'u'),
    part('Deployment', 'hello-services', 'u'),
    part('Service', 'mine', 'another'),
  ];
  expect((await paper.step()).calls.filter((call) => call.startsWith('delete'))).toEqual([]);
  paper.edit({ services: [] });
  expect((await paper.step()).calls.filter((call) => call.startsWith('delete'))).toEqual([
    'delete services/hello-db',
    'delete deployments/hello-services',
  ]);
  expect(paper.bodies).toContainEqual({ uid: 'uid-hello-services', propagationPolicy: 'Background' });
});

describe('held by its user', () => {
  test('it is made without pods, and says so to the queue', async () => {
    const paper = new FakeApiserver({ suspend: true });
    await paper.step();
    expect(paper.body('Job')).toMatchObject({
      metadata: { annotations: { [HOLD]: 'true' } },
      spec: { parallelism: 0, completions: 4 },
    });
    paper.made({ suspend: true, parallelism: 0 });
    await paper.step();
    expect(paper.body('Job')!.spec).toMatchObject({ parallelism: 4, completions: 4 });
  });

  test('while it runs, it is stopped; the queue starts it again', async () => {
    const paper = new FakeApiserver();
    await paper.step();
    paper.made({}, { active: 4, ready: 4 });
    paper.edit({ suspend: true });
    expect((await paper.step()).calls).toContain('patch jobs/hello');
    expect(paper.bodies.findLast(({ spec }) => spec !== undefined)).toMatchObject({
      spec: { suspend: true },
    });
    paper.made({ suspend: true });
    paper.edit({ suspend: false });
    expect((await paper.step()).calls).not.toContain('patch jobs/hello');
  });

  test('without a queue, it is started by us', async () => {
    const paper = new FakeApiserver();
    await paper.step();
    paper.made({ suspend: true });
    paper.job = { ...paper.job!, metadata: { ...paper.job!.metadata, labels: {} } };
    expect((await paper.step()).calls).toContain('patch jobs/hello');
    expect(paper.bodies.findLast(({ spec }) => spec !== undefined)).toMatchObject({
      spec: { suspend: false },
    });
  });
});

describe('over', () => {
  const complete = {
    conditions: [{ type: 'Complete', status: 'True' as const, lastTransitionTime: CREATED }],
  };

  async function over(spec: Partial<MiniClusterSpec> = {}): Promise<FakeApiserver> {
    const paper = new FakeApiserver(spec);
    await paper.step();
    paper.made({}, complete);
    return paper;
  }

  test('it is left as it is, whatever its spec says, and is not made again when its Job is gone', async () => {
    const paper = await over();
    expect(await paper.step()).toEqual({ calls: [STATUS], again: undefined });
    expect(paper.status).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect((await paper.step()).calls).toEqual([]);
    for (const job of [paper.job, undefined]) {
      paper.job = job;
      paper.edit({ size: 2 });
      expect((await paper.step()).calls).toEqual([STATUS]);
      expect(paper.status).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
      expect(paper.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Over' });
      expect((await paper.step()).calls).toEqual([]);
    }
  });

  test('its Job that was swept away unseen is not run a second time', async () => {
    const paper = new FakeApiserver({ ttlSecondsAfterFinished: 0 });
    await paper.step();
    paper.made({}, { active: 4, ready: 4 });
    await paper.step();
    paper.job = undefined;
    expect((await paper.step()).calls).toEqual([STATUS]);
    expect(paper.status).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect((await paper.step()).calls).toEqual([]);
  });

  test('it is deleted where its user asked for that', async () => {
    const paper = await over({ cleanup: true });
    expect((await paper.step()).calls).toEqual([STATUS, 'delete miniclusters/hello']);
    expect(paper.bodies.at(-1)).toMatchObject({ uid: 'u', propagationPolicy: 'Background' });
  });
});

test('its Job deleted by hand is made again', async () => {
  const paper = new FakeApiserver();
  await paper.step();
  paper.made();
  await paper.step();
  paper.job = undefined;
  paper.now += 2;
  expect((await paper.step()).calls).toContain('apply jobs/hello');
});

test('what the apiserver can not answer is tried again by the work queue', async () => {
  const paper = new FakeApiserver();
  paper.refuse = { call: 'apply services/hello', error: refusal(503, 'busy') };
  await expect(paper.step()).rejects.toMatchObject({ status: 503 });
  expect(paper.calls).not.toContain('apply jobs/hello');
});

test('one that is deleted is left to the garbage collector', async () => {
  const paper = new FakeApiserver();
  const { metadata } = paper.cluster!;
  paper.cluster = { ...paper.cluster!, metadata: { ...metadata, deletionTimestamp: CREATED } };
  expect(await paper.step()).toEqual({ calls: [], again: undefined });
});
