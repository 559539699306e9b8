/** Rolling updates in a quota that is used up: the new pod waits for the old one, which Kubernetes keeps until the new one runs. */
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

const PATH = '/apis/apps/v1/namespaces/science/deployments/web';

describeStack(
  'a rolling update in a full queue',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    const podOf = (image: string) =>
      waitFor(`the pod of ${image}`, async () =>
        (await science.pods()).find(({ spec }) => spec.containers[0]!.image === image),
      );

    test('says what it waits for, and goes on as it says', async () => {
      const { client, stack } = getFixture();
      await science.fluxSetup('one', { quota: { cores: '1' } });
      const containers = [{ name: 'main', image: 'old', resources: { requests: { cpu: '1' } } }];
      await stack.cluster.create({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'science' },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { terminationGracePeriodSeconds: 0, containers },
          },
        },
      });
      await science.phase(await podOf('old'), 'Running');
      await client.patch(
        PATH,
        { spec: { template: { spec: { containers: [{ ...containers[0], image: 'new' }] } } } },
        'merge',
      );
      const fresh = await podOf('new');
      await science.phase(fresh, 'Waiting', 'QuotaExceeded');
      const note = await waitFor('the reason', async () => {
        const shown = await science.shown(`${fresh.metadata.name}-pod`, 'Waiting');
        return shown.status?.conditions?.find(({ type }) => type === 'RolloutWaits');
      });
      expect(note.message).toMatch(/^Deployment web keeps older pods until new ones run\. .*maxUnavailable/);
      await client.patch(PATH, { spec: { strategy: { rollingUpdate: { maxUnavailable: 1 } } } }, 'merge');
      await science.phase(fresh, 'Running');
      const after = await science.shown(`${fresh.metadata.name}-pod`, 'Running');
      expect(after.status?.conditions?.map(({ type }) => type)).not.toContain('RolloutWaits');
    });
  },
  { nodes: 1 },
);
