/** When the reconciler creates the Secret with the certificate of a MiniCluster. */
import { rowIn } from '../queue/rows';
import { errorOf, FakeApiserver } from './fake-apiserver';
import { CREATED } from './objects';

test('creates no certificate for a cluster that names a Secret', async () => {
  const named = new FakeApiserver({ flux: { curveCertSecret: 'mine' } });
  expect((await named.reconcile()).calls).not.toContain('create secrets');
});

test('waits for a Secret of a deleted cluster, and later uses an existing Secret of the user', async () => {
  const apiserver = new FakeApiserver();
  apiserver.reject = { call: 'create secrets', error: errorOf(409, 'secrets "hello-curve" already exists') };
  apiserver.now = Date.parse(CREATED) / 1000 + 2;
  const early = await apiserver.reconcile();
  expect(early.calls).not.toContain('apply jobs/hello');
  expect(early.requeueAfter).toBe(1);
  apiserver.now += 10;
  expect((await apiserver.reconcile()).calls).toContain('apply jobs/hello');
});

test('makes a Secret again that was deleted before a broker was up, and none for brokers that are up', async () => {
  const apiserver = new FakeApiserver();
  await apiserver.reconcile();
  apiserver.addJob({}, { active: 4 });
  apiserver.row = rowIn('Ready');
  await apiserver.reconcile();
  expect(apiserver.status.phase).toBe('Ready');
  const later = async () => {
    apiserver.now += 301;
    return (await apiserver.reconcile()).calls;
  };
  expect(await later()).toContain('create secrets');
  apiserver.addJob({}, { active: 4, ready: 1 });
  expect(await later()).not.toContain('create secrets');
  apiserver.addJob({}, { active: 4, ready: 4 });
  apiserver.row = rowIn('Running');
  await apiserver.reconcile();
  // Its brokers restart with what they have.
  apiserver.addJob({}, { active: 4, ready: 0 });
  expect(await later()).not.toContain('create secrets');
  // It was requeued: nothing of it runs.
  apiserver.addJob({ suspend: true });
  apiserver.row = rowIn('Waiting');
  expect(await later()).toContain('create secrets');
});

test.each([
  [409, 'secrets "hello-curve" already exists'],
  // A quota is asked before the apiserver looks whether the Secret exists.
  [403, 'exceeded quota: count/secrets'],
])(
  'takes an existing Secret of a cluster that waits as its own, also in a new controller: %d',
  async (status, message) => {
    const next = new FakeApiserver();
    next.addJob({ suspend: true });
    next.row = rowIn('Waiting');
    next.now = Date.parse(CREATED) / 1000 + 2;
    next.reject = { call: 'create secrets', error: errorOf(status, message) };
    expect((await next.reconcile()).calls).toContain('create secrets');
    expect(next.status.phase).toBe('Waiting');
    expect(next.condition('Stalled').status).toBe('False');
  },
);
