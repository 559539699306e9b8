/** Pods that nobody makes again, and that cannot run on the nodes which they were granted: none of them starts there without a grant. */
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack } from './suite';
import { Namespace, type Shape, UNTIL_ENDED } from './workloads';

const MISSING = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }] };
const PODS = { restartPolicy: 'Never', terminationGracePeriodSeconds: 0 };
const GROUP: Shape = {
  labels: { 'fluxqueue/group': 'half' },
  annotations: { 'fluxqueue/group-size': '2', 'fluxqueue/walltime': '1h' },
};

describeStack(
  'bare pods that cannot run',
  (getFixture) => {
    let science: Namespace;
    beforeAll(async () => {
      await getFixture().stack.startController({ grants: { unschedulableSeconds: 1 } });
      science = await Namespace.create(getFixture, 'science');
    });
    const isThere = async ({ metadata: { uid } }: Pod) =>
      (await science.pods()).some(({ metadata }) => metadata.uid === uid);

    test('are evicted, and say what to do', async () => {
      const pod = await science.pod('bare', { podSpec: { ...PODS, ...MISSING } });
      const row = await science.phase(pod, 'Finished');
      expect(row).toMatchObject({ result: 'Cancelled' });
      expect(row.message).toContain('persistentvolumeclaim "missing" not found');
      expect(await isThere(pod)).toBe(false);
      const told = await science.recordedEvents(pod, 1);
      expect(told.join()).toMatch(
        /; evicted, because Kubernetes cannot move a pod, and no controller creates it again: submit it again/,
      );
    });

    test('keep the grant of their group for as long as another pod of it runs', async () => {
      const runs = await science.pod('half-a', { ...GROUP, runs: UNTIL_ENDED, podSpec: PODS });
      const waits = await science.pod('half-b', { ...GROUP, podSpec: { ...PODS, ...MISSING } });
      const row = async () => (await getFixture().queue.active()).find(({ name }) => name === 'half');
      await waitFor('a pod of the group to run', async () => (await row())?.phase === 'Running');
      // Longer than the limit: what is granted later is granted after it.
      for (const name of ['first', 'second', 'third']) {
        const later = await science.pod(name, { podSpec: { ...PODS, ...MISSING } });
        await science.phase(later, 'Finished');
      }
      expect(await row()).toMatchObject({ phase: 'Running', allocation: { nodes: expect.anything() } });
      expect(await isThere(waits)).toBe(true);
      await getFixture().client.delete(`/api/v1/namespaces/science/pods/${runs.metadata.name}`);
      await waitFor('the other one to be evicted', async () => !(await isThere(waits)));
      await waitFor('the row of the group to end', async () => (await row()) === undefined);
    });
  },
  { nodes: 2, nodeShape: { cpu: '8' } },
);
