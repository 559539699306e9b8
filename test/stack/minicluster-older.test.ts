// Own cluster: admission of a Kubernetes before 1.36, which has no MutatingAdmissionPolicy.
/** MiniClusters where the apiserver compares what the controller creates with one of a namespace at a time. */
import { APPLYING_LABEL } from '../../constructs/api/labels';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { MiniClusters } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import { describeOwnStack } from './suite';
import { withWebhook } from './with-webhook';

const COUNT = 12;
const CONTAINER = { image: 'none', command: 'hostname', resources: { requests: { cpu: '100m' } } };
const SERVICE = { name: 'db', image: 'db', ports: [80] };

describeOwnStack(
  'MiniClusters before Kubernetes 1.36',
  (getFixture) => {
    let clusters: MiniClusters;
    useMiniClusters(getFixture, (given) => {
      clusters = given.clusters;
    });

    const names = (objects: readonly KubernetesObject[]) =>
      objects.map(({ metadata }) => metadata.name).sort();
    const labelled = async (all: readonly string[]) => {
      const found = await Promise.all(all.map((name) => clusters.get(name)));
      return found.filter((one) => one?.metadata.labels?.[APPLYING_LABEL] !== undefined);
    };

    test('many that are created at once all run, one after the other is written, and none keeps the label', async () => {
      const all = Array.from({ length: COUNT }, (_, i) => `band-${String(i).padStart(2, '0')}`);
      const spec = { size: 1, services: [SERVICE], containers: [CONTAINER] };
      await Promise.all(all.map((name) => clusters.create(name, spec)));
      for (const name of all) await clusters.running(name, 1);
      expect(names(await clusters.list('Job'))).toEqual(all);
      expect(names(await clusters.list('Deployment'))).toEqual(all.map((name) => `${name}-services`));
      await waitFor('no label to be left', async () => (await labelled(all)).length === 0);
    });

    test('services get another image, and keep what they reach', async () => {
      await clusters.create('band', {
        size: 1,
        services: [SERVICE],
        containers: [CONTAINER],
        interactive: true,
      });
      await clusters.running('band', 1);
      const image = async () => {
        const [found] = await clusters.list<KubernetesObject & { spec: DeploymentSpec }>('Deployment');
        return found?.spec.template.spec.containers[0]?.image;
      };
      await waitFor('the services', async () => (await image()) === 'db');
      await clusters.patch('band', { services: [{ ...SERVICE, image: 'db:2' }] });
      await waitFor('the new image', async () => (await image()) === 'db:2');
      const volumes = { data: { claimName: 'home', path: '/data' } };
      await clusters.patch('band', { services: [{ ...SERVICE, image: 'db:3', volumes }] });
      const { message } = await clusters.condition('band', 'Stalled', 'True', 'Immutable');
      expect(message).toContain('delete and create it again');
      expect(await image()).toBe('db:2');
      await clusters.patch('band', { services: [{ ...SERVICE, image: 'db:3', volumes: null }] });
      await waitFor('the last image', async () => (await image()) === 'db:3');
    });
  },
  withWebhook({
    cluster: { nodes: 2, nodeShape: { cpu: '16', memory: '64Gi' } },
    props: { kubernetesVersion: '1.35.2' },
  }),
);

interface DeploymentSpec {
  readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
}
