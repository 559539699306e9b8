/** A Job that goes to one node has it in its template, and is not bound to it when it waits again. */
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesList, Pod } from '../../runtime/kubernetes/types';
import { affinityTo } from '../../runtime/shared/template-pin';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

describeStack(
  'a Job with one node',
  (getFixture) => {
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });
    const suspend = async (name: string, value: boolean) => {
      await getFixture().client.patch(jobs('science', name), { spec: { suspend: value } }, 'merge');
    };
    const template = async (name: string) => {
      const { spec } = await getFixture().client.get<Job>(jobs('science', name));
      return spec.template;
    };
    const podsOf = async (name: string) => {
      const { cluster } = getFixture().stack;
      const { items } = await cluster.get<KubernetesList<Pod>>(pods('science'));
      return items.filter(
        ({ metadata: { labels, deletionTimestamp } }) =>
          deletionTimestamp === undefined && labels?.['job-name'] === name,
      );
    };

    test('runs elsewhere after another has taken its node', async () => {
      const train = await science.job('train', { cores: 4, runs: '1h' });
      const { allocation } = await science.phase(train, 'Running');
      const first = allocation!.nodes[0]!.name;
      expect((await template('train')).spec.affinity).toEqual(affinityTo(first));
      const [pod] = await podsOf('train');
      expect(pod!.spec.affinity).toEqual(affinityTo(first));
      await suspend('train', true);
      await science.phase(train, 'Waiting', 'Held');
      const other = await science.job('other', {
        ...{ cores: 4, runs: '1h' },
        podSpec: { nodeSelector: { 'kubernetes.io/hostname': first } },
      });
      await science.phase(other, 'Running');
      await suspend('train', false);
      const again = await science.regranted(train, { ...(await science.row(train))!, jobid: -1 });
      const second = again.allocation!.nodes[0]!.name;
      expect(second).not.toBe(first);
      expect((await template('train')).spec.affinity).toEqual(affinityTo(second));
      const on = await waitFor('its pod', async () => (await podsOf('train'))[0]?.spec.nodeName);
      expect(on).toBe(second);
    }, 120_000);

    test('starts also where a policy refuses what the queue writes into its template', async () => {
      const { cluster } = getFixture().stack;
      const metadata = { name: 'no-affinity' };
      const policy = { apiVersion: 'admissionregistration.k8s.io/v1', metadata };
      await cluster.apply([
        {
          ...policy,
          kind: 'ValidatingAdmissionPolicy',
          spec: {
            matchConstraints: {
              resourceRules: [
                { apiGroups: ['batch'], apiVersions: ['v1'], operations: ['*'], resources: ['jobs'] },
              ],
            },
            validations: [{ expression: '!has(object.spec.template.spec.affinity)', message: 'no affinity' }],
          },
        },
        {
          ...policy,
          kind: 'ValidatingAdmissionPolicyBinding',
          spec: { policyName: 'no-affinity', validationActions: ['Deny'] },
        },
      ]);
      const affine = {
        ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'affine', namespace: 'science' } },
        spec: {
          template: {
            spec: {
              ...{ restartPolicy: 'Never', affinity: affinityTo('node-0') },
              containers: [{ name: 'main', image: 'none' }],
            },
          },
        },
      };
      await waitFor('the policy', async () => {
        const { status } = await cluster.api.send('POST', `${jobs('science')}?dryRun=All`, affine);
        return status === 422 || status === 403;
      });
      const plain = await science.job('plain', { cores: 1, runs: '1h' });
      const { allocation, requeues } = await science.phase(plain, 'Running');
      expect(requeues).toBe(0);
      expect((await template('plain')).spec.affinity).toBeUndefined();
      const [pod] = await podsOf('plain');
      expect(pod!.spec.affinity).toEqual(affinityTo(allocation!.nodes[0]!.name));
    }, 120_000);
  },
  { cluster: { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
