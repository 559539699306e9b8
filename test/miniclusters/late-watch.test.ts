/** What a MiniCluster does while the watch does not show the Job that was created for it. */
import { MANAGED_BY, MINICLUSTER_LABEL } from '../../constructs/api/labels';
import { FakeApiserver } from './fake-apiserver';

test('does not apply its spec to a Job that the watch does not show: it may run with a grant', async () => {
  const apiserver = new FakeApiserver({ deadlineSeconds: 864_000 });
  apiserver.owners = { 'jobs/hello': [{ uid: 'u' }] };
  const { calls } = await apiserver.reconcile();
  expect(calls).not.toContain('apply jobs/hello');
  expect(calls).toContain('patch jobs/hello');
  // With them the watch shows it, also if its user has removed them.
  const labels = { [MINICLUSTER_LABEL]: 'hello', [MANAGED_BY]: 'fluxqueue' };
  expect(apiserver.bodies).toContainEqual({ metadata: { labels } });
});

test('creates a Job that the watch does not show ever more rarely, and at once when it was shown and deleted', async () => {
  const apiserver = new FakeApiserver();
  const creates = async (seconds: number) => {
    apiserver.now += seconds;
    return (await apiserver.reconcile()).calls.includes('apply jobs/hello');
  };
  expect(await creates(0)).toBe(true);
  const late = [await creates(4), await creates(1), await creates(9), await creates(1)];
  expect(late).toEqual([false, true, false, true]);
  // The work queue does not depend on an event that says the Job was deleted.
  expect((await apiserver.reconcile()).requeueAfter).toBe(20);
  apiserver.addJob({ suspend: true });
  expect(await creates(1)).toBe(false);
  apiserver.job = undefined;
  expect(await creates(0)).toBe(true);
});
