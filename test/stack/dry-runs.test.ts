// Own cluster: admission by the webhook.
/** What pods will be, by a dry run: with a webhook of the cluster beside the queue's own. By policies: test/causes/rows/injected.ts. */
import { HOLD } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { SidecarWebhook } from './sidecar-webhook';
import { describeOwnStack } from './suite';
import { withWebhook } from './with-webhook';
import { Namespace, type Shape, UNTIL_ENDED } from './workloads';

describeOwnStack(
  'a webhook that adds sidecars to pods',
  (getFixture) => {
    let webhook: SidecarWebhook;
    beforeAll(async () => {
      webhook = await SidecarWebhook.start();
      await getFixture().stack.startController();
    });
    afterAll(() => webhook.stop());

    /** A namespace whose pods get sidecars. */
    async function meshed(name: string): Promise<Namespace> {
      const { stack, client } = getFixture();
      const namespace = await Namespace.create(getFixture, name);
      webhook.dryRuns = 'answered';
      await stack.cluster.apply(webhook.configuration(name));
      const probe = { metadata: { name: 'probe' }, spec: { containers: [{ name: 'main', image: 'none' }] } };
      await waitFor('pods to get a sidecar', async () => {
        const path = `/api/v1/namespaces/${name}/pods`;
        const { spec } = await client.create<typeof probe>(path, probe, { dryRun: true });
        return spec.containers.length === 2;
      });
      webhook.count = 0;
      return namespace;
    }

    /**
     * Jobs that are released once a dry run was answered for each of them: a slow machine may need longer than a Job waits for it, and
     * one that waits in its queue is asked about again.
     */
    async function answered(
      namespace: Namespace,
      jobs: Readonly<Record<string, Shape>>,
    ): Promise<readonly Job[]> {
      const held = { annotations: { [HOLD]: 'true' } };
      const made = await Promise.all(
        Object.entries(jobs).map(([name, shape]) => namespace.job(name, { ...shape, ...held })),
      );
      for (const job of made)
        await waitFor(`the dry run for ${job.metadata.name} to be answered`, async () => {
          if ((await namespace.row(job))?.jobspec.attributes.user?.injected !== undefined) return true;
          // A change of it, by which the controller looks at it again.
          await namespace.patch(job, 'Job', {
            metadata: { annotations: { looked: String(performance.now()) } },
          });
          return false;
        });
      await Promise.all(
        made.map((job) => namespace.patch(job, 'Job', { metadata: { annotations: { [HOLD]: null } } })),
      );
      return made;
    }

    test('the first grant has room for the sidecars of forty pods, and no pod is returned', async () => {
      const mesh = await meshed('mesh');
      const [job] = await answered(mesh, { tasks: { pods: 40, runs: UNTIL_ENDED } });
      const running = await waitFor('forty pods', async () => {
        const found = (await mesh.podsOf(job!)).filter(({ status }) => status?.phase === 'Running');
        return found.length === 40 && found;
      });
      const perNode = Map.groupBy(running, ({ spec }) => spec.nodeName);
      expect([...perNode.values()].map(({ length }) => length)).toEqual([8, 8, 8, 8, 8]);
      const row = (await mesh.row(job!))!;
      expect([row.requeues, row.jobspec.attributes.user?.injected]).toEqual([0, { cpu: '1' }]);
      expect(webhook.count).toBeGreaterThan(0);
      await mesh.delete(job!, 'Job');
      await mesh.finished();
    });

    test('thirty Jobs of one template do not cost a dry run each', async () => {
      const burst = await meshed('burst');
      const names = Array.from({ length: 30 }, (_, i) => `job-${i}`);
      const jobs = await answered(burst, Object.fromEntries(names.map((name) => [name, {}])));
      await burst.finished();
      for (const job of jobs) {
        const row = (await burst.row(job))!;
        expect([row.requeues, row.jobspec.attributes.user?.injected]).toEqual([0, { cpu: '1' }]);
      }
      // One more once the configuration of the webhook is surely in force, and where an answer took too long.
      expect(webhook.count).toBeLessThan(10);
    });

    test.each(['hangs', 'refused'] as const)(
      'a Job whose dry run is answered so is queued and runs: %s',
      async (how) => {
        const namespace = await meshed(how);
        webhook.dryRuns = how;
        const job = await namespace.job('first');
        const { jobspec } = await namespace.phase(job, 'Finished');
        expect(webhook.count).toBeGreaterThan(0);
        expect(jobspec.attributes.user?.injected).toBeUndefined();
        // Its pod has said more than the dry run.
        const next = await namespace.job('next');
        expect((await namespace.phase(next, 'Finished')).jobspec.attributes.user?.injected).toEqual({
          cpu: '1',
        });
      },
    );
  },
  withWebhook({
    createsMiniClusters: false,
    cluster: { nodes: 5, nodeShape: { cpu: '16', memory: '64Gi' } },
  }),
);
