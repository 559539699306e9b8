/** Single reconciles of one MiniCluster against a fake apiserver; test/stack/miniclusters.test.ts has a real one. */
import { GANG_SIZE, HOLD } from '../../constructs/api/labels';
import { MINICLUSTER_DEADLINE_SECONDS } from '../../constructs/api/queue-defaults';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { OwnedObject } from '../../runtime/miniclusters/prune';
import { rowIn } from '../queue/rows';
import { ALL, errorOf, FakeApiserver, STATUS } from './fake-apiserver';
import { CREATED } from './objects';

const IMMUTABLE = errorOf(422, 'spec.template: Invalid value: {}: field is immutable');

test('creates all objects, the Job last, and sets phase Requested', async () => {
  const apiserver = new FakeApiserver();
  const { calls } = await apiserver.reconcile();
  expect(calls).toEqual([...ALL, STATUS]);
  for (const kind of ['ConfigMap', 'Service', 'Secret', 'Job'])
    expect(apiserver.body(kind)!.metadata).toMatchObject({
      ownerReferences: [{ kind: 'MiniCluster', name: 'hello', uid: 'u', controller: true }],
    });
  expect(apiserver.body('Job')!.spec).not.toHaveProperty('suspend');
  expect(apiserver.status.phase).toBe('Requested');
});

test('does nothing for an unchanged cluster, and applies all objects again after five minutes', async () => {
  const apiserver = new FakeApiserver();
  await apiserver.reconcile();
  apiserver.addJob({ suspend: true });
  apiserver.row = rowIn('Waiting');
  expect((await apiserver.reconcile()).calls).toEqual([STATUS]);
  expect(await apiserver.reconcile()).toEqual({ calls: [], requeueAfter: 300 });
  apiserver.now += 301;
  expect((await apiserver.reconcile()).calls).toEqual([ALL[4], ...ALL.slice(0, 4)]);
});

describe('a change of a running cluster', () => {
  async function running(spec: Partial<MiniClusterSpec> = {}): Promise<FakeApiserver> {
    const apiserver = new FakeApiserver(spec);
    await apiserver.reconcile();
    apiserver.addJob({}, { active: 4, ready: 4 });
    apiserver.row = rowIn('Running');
    await apiserver.reconcile();
    expect(apiserver.status.phase).toBe('Running');
    return apiserver;
  }

  test('applies a new size to the Job first', async () => {
    const apiserver = await running({ maxSize: 8 });
    expect(apiserver.body('Job')!.metadata.annotations).toMatchObject({ [GANG_SIZE]: '4' });
    apiserver.edit({ size: 6 });
    expect((await apiserver.reconcile()).calls.slice(0, 2)).toEqual([
      'apply jobs/hello',
      'apply configmaps/hello-config',
    ]);
    expect(apiserver.body('Job')!.spec).toMatchObject({ parallelism: 6, completions: 6 });
  });

  test('keeps the deadline of the grant, and is Stalled until the later one is taken back', async () => {
    const apiserver = await running({ deadlineSeconds: 8 });
    apiserver.addJob({ activeDeadlineSeconds: 8 }, { active: 4, ready: 4 });
    for (const later of [864_000, MINICLUSTER_DEADLINE_SECONDS]) {
      apiserver.edit({ deadlineSeconds: later });
      await apiserver.reconcile();
      expect(apiserver.body('Job')!.spec).toMatchObject({ activeDeadlineSeconds: 8 });
      expect(apiserver.condition('Stalled')).toMatchObject({ status: 'True', reason: 'DeadlineFixed' });
    }
    apiserver.edit({ deadlineSeconds: 8 });
    await apiserver.reconcile();
    expect(apiserver.condition('Stalled').status).toBe('False');
  });

  test('changes no object and is Stalled while the Job is immutable, until the change is reverted', async () => {
    const apiserver = await running();
    apiserver.reject = { call: 'apply jobs/hello', error: IMMUTABLE };
    apiserver.edit({ containers: [{ image: 'other' }] });
    expect(await apiserver.reconcile()).toEqual({ calls: ['apply jobs/hello', STATUS], requeueAfter: 30 });
    expect(apiserver.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Immutable' });
    expect(apiserver.condition('Ready').status).toBe('True');
    expect(apiserver.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'Immutable' });
    // The retry records no other Event.
    const recorded = apiserver.events.length;
    apiserver.now += 31;
    expect((await apiserver.reconcile()).calls).toEqual(['apply jobs/hello']);
    expect(apiserver.events).toHaveLength(recorded);
    apiserver.reject = undefined;
    apiserver.edit({ containers: [{ image: 'flux' }] });
    await apiserver.reconcile();
    expect(apiserver.condition('Stalled').status).toBe('False');
  });

  test('ignores an immutable field that only the renderer changed', async () => {
    const apiserver = await running();
    const next = new FakeApiserver();
    next.cluster = apiserver.cluster;
    next.job = apiserver.job;
    next.row = apiserver.row;
    next.reject = { call: 'apply jobs/hello', error: IMMUTABLE };
    expect((await next.reconcile()).calls).toEqual(['apply jobs/hello']);
    expect(next.condition('Stalled').status).toBe('False');
  });

  test('is Stalled after a restart of the controller too, if the user changed an immutable field', async () => {
    const apiserver = await running();
    apiserver.reject = { call: 'apply jobs/hello', error: IMMUTABLE };
    apiserver.edit({ containers: [{ image: 'other' }] });
    await apiserver.reconcile();
    const next = new FakeApiserver();
    next.cluster = apiserver.cluster;
    next.job = apiserver.job;
    next.row = apiserver.row;
    next.reject = apiserver.reject;
    await next.reconcile();
    expect(next.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Immutable' });
  });
});

test('applies a change to a suspended Job only as it has seen it: the queue may have released it meanwhile', async () => {
  const apiserver = new FakeApiserver();
  await apiserver.reconcile();
  apiserver.addJob({ suspend: true });
  apiserver.row = rowIn('Waiting');
  apiserver.edit({ deadlineSeconds: 864_000 });
  await apiserver.reconcile();
  expect(apiserver.body('Job')!.metadata).toMatchObject({ resourceVersion: '1' });
  const changed =
    'Operation cannot be fulfilled on jobs.batch "hello": the object has been modified; please apply your changes to the latest version';
  apiserver.reject = { call: 'apply jobs/hello', error: errorOf(409, changed) };
  apiserver.edit({ deadlineSeconds: 865_000 });
  await expect(apiserver.reconcile()).rejects.toThrow('the object has been modified');
});

test('creates nothing for an invalid spec and reports all problems', async () => {
  const apiserver = new FakeApiserver({ size: 2, maxSize: 1, minSize: 3 });
  expect(await apiserver.reconcile()).toEqual({ calls: [STATUS], requeueAfter: undefined });
  const { message, reason } = apiserver.condition('Stalled');
  expect(reason).toBe('Invalid');
  expect(message).toMatch(/spec\.maxSize: .*\n?.*spec\.minSize: |spec\.minSize: .*\n.*spec\.maxSize: /s);
});

test('waits for a Job with another owner to go, and then reports that the name is taken', async () => {
  const apiserver = new FakeApiserver();
  apiserver.addJob({}, {}, 'another');
  apiserver.now = Date.parse(CREATED) / 1000 + 2;
  expect(await apiserver.reconcile()).toEqual({ calls: [STATUS], requeueAfter: 1 });
  expect(apiserver.condition('Stalled').status).toBe('False');
  apiserver.now += 10;
  expect((await apiserver.reconcile()).requeueAfter).toBe(30);
  expect(apiserver.condition('Stalled').reason).toBe('NameTaken');
});

test('deletes services that were removed from the spec, and no object of another owner', async () => {
  const apiserver = new FakeApiserver({ services: [{ name: 'db', image: 'db', ports: [80] }] });
  await apiserver.reconcile();
  apiserver.addJob();
  const owned = (kind: OwnedObject['kind'], name: string, owner: string): OwnedObject => {
    const { metadata } = apiserver.job!;
    const ownerReferences = [{ ...metadata.ownerReferences![0]!, uid: owner }];
    return { kind, metadata: { ...metadata, name, uid: `uid-${name}`, ownerReferences } };
  };
  apiserver.ownedObjects = [
    owned('Service', 'hello', 'u'),
    owned('Service', 'hello-db', 'u'),
    owned('Deployment', 'hello-services', 'u'),
    owned('Service', 'mine', 'another'),
  ];
  expect((await apiserver.reconcile()).calls.filter((call) => call.startsWith('delete'))).toEqual([]);
  apiserver.edit({ services: [] });
  expect((await apiserver.reconcile()).calls.filter((call) => call.startsWith('delete'))).toEqual([
    'delete services/hello-db',
    'delete deployments/hello-services',
  ]);
  expect(apiserver.bodies).toContainEqual({ uid: 'uid-hello-services', propagationPolicy: 'Background' });
});

describe('a suspended cluster', () => {
  test('gets a Job without pods and with the hold annotation', async () => {
    const apiserver = new FakeApiserver({ suspend: true });
    await apiserver.reconcile();
    expect(apiserver.body('Job')).toMatchObject({
      metadata: { annotations: { [HOLD]: 'true' } },
      spec: { parallelism: 0, completions: 4 },
    });
    apiserver.addJob({ suspend: true, parallelism: 0 });
    await apiserver.reconcile();
    expect(apiserver.body('Job')!.spec).toMatchObject({ parallelism: 4, completions: 4 });
  });

  test('has its Job suspended while it runs, and leaves the resumption to the queue', async () => {
    const apiserver = new FakeApiserver();
    await apiserver.reconcile();
    apiserver.addJob({}, { active: 4, ready: 4 });
    apiserver.edit({ suspend: true });
    expect((await apiserver.reconcile()).calls).toContain('patch jobs/hello');
    expect(apiserver.bodies).toContainEqual(expect.objectContaining({ spec: { suspend: true } }));
    apiserver.addJob({ suspend: true });
    apiserver.edit({ suspend: false });
    expect((await apiserver.reconcile()).calls).not.toContain('patch jobs/hello');
  });

  test('has its Job suspended before the manifests give the Job its pods', async () => {
    const apiserver = new FakeApiserver({ suspend: true });
    await apiserver.reconcile();
    // Outside the queue, nobody has suspended the Job that was created without pods.
    apiserver.addJob({ parallelism: 0 });
    const { calls } = await apiserver.reconcile();
    expect(calls.indexOf('patch jobs/hello')).toBeGreaterThanOrEqual(0);
    expect(calls.indexOf('patch jobs/hello')).toBeLessThan(calls.indexOf('apply jobs/hello'));
  });

  test('has its Job resumed by the controller if the Job is outside the queue', async () => {
    const apiserver = new FakeApiserver();
    await apiserver.reconcile();
    apiserver.addJob({ suspend: true });
    apiserver.job = { ...apiserver.job!, metadata: { ...apiserver.job!.metadata, labels: {} } };
    expect((await apiserver.reconcile()).calls).toContain('patch jobs/hello');
    expect(apiserver.bodies.findLast(({ spec }) => spec !== undefined)).toMatchObject({
      spec: { suspend: false },
    });
  });
});

describe('a finished cluster', () => {
  const complete = {
    conditions: [{ type: 'Complete', status: 'True' as const, lastTransitionTime: CREATED }],
  };

  async function finished(spec: Partial<MiniClusterSpec> = {}): Promise<FakeApiserver> {
    const apiserver = new FakeApiserver(spec);
    await apiserver.reconcile();
    apiserver.addJob({}, complete);
    return apiserver;
  }

  test('ignores changes of its spec and is not created again when its Job is deleted', async () => {
    const apiserver = await finished();
    expect(await apiserver.reconcile()).toEqual({ calls: [STATUS], requeueAfter: undefined });
    expect(apiserver.status).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
    expect((await apiserver.reconcile()).calls).toEqual([]);
    for (const job of [apiserver.job, undefined]) {
      apiserver.job = job;
      apiserver.edit({ size: 2 });
      expect((await apiserver.reconcile()).calls).toEqual([STATUS]);
      expect(apiserver.status).toMatchObject({ phase: 'Finished', result: 'Succeeded' });
      expect(apiserver.condition('Stalled')).toMatchObject({ status: 'True', reason: 'AlreadyFinished' });
      expect((await apiserver.reconcile()).calls).toEqual([]);
    }
  });

  test('is not run again if its Job was deleted before its end was observed', async () => {
    const apiserver = new FakeApiserver({ ttlSecondsAfterFinished: 0 });
    await apiserver.reconcile();
    apiserver.addJob({}, { active: 4, ready: 4 });
    await apiserver.reconcile();
    apiserver.job = undefined;
    expect((await apiserver.reconcile()).calls).toEqual([STATUS]);
    expect(apiserver.status).toMatchObject({ phase: 'Finished', result: 'Cancelled' });
    expect((await apiserver.reconcile()).calls).toEqual([]);
  });

  test('is deleted if its spec has cleanup', async () => {
    const apiserver = await finished({ cleanup: true });
    expect((await apiserver.reconcile()).calls).toEqual([STATUS, 'delete miniclusters/hello']);
    expect(apiserver.bodies.at(-1)).toMatchObject({ uid: 'u', propagationPolicy: 'Background' });
  });
});

test('creates a Job again that was deleted by hand', async () => {
  const apiserver = new FakeApiserver();
  await apiserver.reconcile();
  apiserver.addJob();
  await apiserver.reconcile();
  apiserver.job = undefined;
  apiserver.now += 2;
  expect((await apiserver.reconcile()).calls).toContain('apply jobs/hello');
});

test('throws for an unavailable apiserver, so that the work queue retries', async () => {
  const apiserver = new FakeApiserver();
  apiserver.reject = { call: 'apply services/hello', error: errorOf(503, 'busy') };
  await expect(apiserver.reconcile()).rejects.toMatchObject({ status: 503 });
  expect(apiserver.calls).not.toContain('apply jobs/hello');
});

test('leaves a deleted cluster to the garbage collector', async () => {
  const apiserver = new FakeApiserver();
  const { metadata } = apiserver.cluster!;
  apiserver.cluster = { ...apiserver.cluster!, metadata: { ...metadata, deletionTimestamp: CREATED } };
  expect(await apiserver.reconcile()).toEqual({ calls: [], requeueAfter: undefined });
});

test('logs the decision of each reconcile', async () => {
  const apiserver = new FakeApiserver();
  await apiserver.reconcile();
  apiserver.addJob({ suspend: true });
  apiserver.row = rowIn('Waiting');
  await apiserver.reconcile();
  await apiserver.reconcile();
  apiserver.cluster = undefined;
  await apiserver.reconcile();
  expect(apiserver.decisions).toEqual([
    'manifests applied',
    'manifests are up to date',
    'manifests are up to date',
    'deleted, nothing to do',
  ]);
});
