/** Faults of the cluster: they cost a workload no requeue of its limit, and it runs by itself once they are over. */
import { pods as podPath } from '../../../runtime/kubernetes/paths';
import { job, pod } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

/** The first requeue for a cause of its own would be the last. */
const queue = { requeue: { limit: 0, backoff: '2s' } };
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const PODS = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const only = (namespace: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': namespace } });

/** Runs once the fault is over, whatever was tried during it. */
async function recovers(cluster: RowCluster, sentence: RegExp, end: () => Promise<void>): Promise<void> {
  await cluster.apply(job('train'));
  await cluster.until('its first requeue', 60_000, async () => {
    const [fluxJob] = await cluster.fluxJobs('train');
    return (fluxJob?.status?.requeues ?? 0) > 0 && sentence.test(JSON.stringify(fluxJob!.status));
  });
  await end();
  await cluster.runs('train', 1);
}

export const FAULT_ROWS: readonly Row[] = [
  {
    name: 'a Job whose pods no webhook answers for runs once the webhook is back',
    queue,
    async run(cluster) {
      const name = `${cluster.namespace}-broken`;
      await cluster.apply({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name },
        webhooks: [
          {
            name: 'broken.example.com',
            clientConfig: { url: 'https://127.0.0.1:1/' },
            rules: [PODS],
            namespaceSelector: only(cluster.namespace),
            failurePolicy: 'Fail',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      await cluster.until(
        'the webhook to be called',
        30_000,
        async () => !(await cluster.accepts(pod('probe'))),
      );
      await recovers(cluster, /failed calling webhook/, () =>
        cluster.delete(`${REGISTRATION}/validatingwebhookconfigurations/${name}`),
      );
    },
  },
  {
    name: 'a Job whose pods a change freeze refuses runs once the freeze is over',
    queue,
    async run(cluster) {
      const name = `${cluster.namespace}-freeze`;
      await cluster.apply(
        {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicy',
          metadata: { name },
          spec: {
            matchConstraints: { namespaceSelector: only(cluster.namespace), resourceRules: [PODS] },
            validations: [{ expression: 'false', message: 'no changes today' }],
          },
        },
        {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicyBinding',
          metadata: { name },
          spec: { policyName: name, validationActions: ['Deny'] },
        },
      );
      await cluster.until('the policy to hold', 30_000, async () => !(await cluster.accepts(pod('probe'))));
      await recovers(cluster, /no changes today/, () =>
        cluster.delete(`${REGISTRATION}/validatingadmissionpolicybindings/${name}`),
      );
    },
  },
  {
    name: 'a Job loses node after node without reaching its requeue limit',
    nodes: nodes(4),
    queue,
    async run(cluster) {
      const lost: string[] = [];
      await cluster.apply(job('train', { requests: { cpu: '3' }, spec: { backoffLimit: 20 } }));
      for (let i = 0; i < 3; i++) {
        const [running] = await cluster.runs('train', 1, { not: lost });
        lost.push(running!.spec.nodeName!);
        await cluster.removeNode(lost.at(-1)!);
      }
      await cluster.runs('train', 1, { not: lost });
    },
  },
  {
    name: 'a Job whose room others take runs elsewhere, whatever its requeue limit',
    queue,
    async run(cluster) {
      await cluster.apply(job('train', { requests: { cpu: '3' }, spec: { backoffLimit: 20 } }));
      const [running] = await cluster.runs('train', 1);
      await cluster.occupy(running!.spec.nodeName!, { cpu: '2' });
      await cluster.delete(podPath(cluster.namespace, running!.metadata.name));
      await cluster.runs('train', 1, { not: [running!.spec.nodeName!] });
    },
  },
  {
    name: 'a Job with a missing claim reaches its requeue limit: the cause is its own',
    queue,
    async run(cluster) {
      await cluster.apply(
        job('train', { pod: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'none' } }] } }),
      );
      await cluster.saysAndFrees('train', /"none" not found.*retried once an hour after 0 requeues/);
    },
  },
];
