/** Pods that the apiserver refuses, so that the Job controller cannot create them: its sentence reaches the FluxJob. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import { deployment, job, pod } from '../../stack/manifests';
import type { Row } from '../row';
import { applyQuota, quota } from './quotas';

/** Each requeue leaves time to see that the workload waits, also on a slow machine. */
const queue = { requeue: { limit: 5, backoff: '5s' } };

export const REFUSED_ROWS: readonly Row[] = [
  {
    name: 'a gang beyond the ResourceQuota says "exceeded quota" and holds nothing',
    queue,
    async run(cluster) {
      await applyQuota(cluster, { pods: '1' });
      await cluster.apply(job('wide', { pods: 3, annotations: { [GANG_SIZE]: '3' } }));
      await cluster.saysAndFrees('wide', /exceeded quota: small/);
    },
  },
  {
    name: 'an array beyond the ResourceQuota runs as many pods as the quota allows, and all once it grows',
    queue,
    async run(cluster) {
      await applyQuota(cluster, { pods: '2' });
      await cluster.apply(job('wide', { pods: 3 }));
      await cluster.runs('wide', 2);
      await cluster.apply(quota({ pods: '8' }));
      await cluster.runs('wide', 3);
    },
  },
  {
    name: 'a gang beyond the ResourceQuota runs once the quota grows',
    queue,
    async run(cluster) {
      await applyQuota(cluster, { 'requests.cpu': '1' });
      await cluster.apply(job('wide', { pods: 2, annotations: { [GANG_SIZE]: '2' } }));
      await cluster.says('wide', /exceeded quota: small/);
      await cluster.apply(quota({ 'requests.cpu': '8' }));
      await cluster.runs('wide', 2);
    },
  },
  {
    name: 'a Job that Pod Security forbids says so and holds nothing',
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    queue,
    async run(cluster) {
      await cluster.apply(job('root'));
      await cluster.saysAndFrees('root', /violates PodSecurity "restricted/);
    },
  },
  {
    name: 'a Job with a missing ServiceAccount names it and holds nothing',
    queue,
    async run(cluster) {
      await cluster.apply(job('nobody', { pod: { serviceAccountName: 'robot' } }));
      await cluster.saysAndFrees('nobody', /serviceaccount "robot" not found/i);
    },
  },
  {
    name: 'a Job with a missing PriorityClass names it and holds nothing',
    queue,
    async run(cluster) {
      await cluster.apply(job('urgent', { pod: { priorityClassName: 'sky-high' } }));
      await cluster.saysAndFrees('urgent', /no PriorityClass with name sky-high was found/);
    },
  },
  {
    name: 'a Job with a missing RuntimeClass names it and holds nothing',
    queue,
    async run(cluster) {
      await cluster.apply(job('boxed', { pod: { runtimeClassName: 'sandbox' } }));
      await cluster.saysAndFrees('boxed', /RuntimeClass "sandbox" not found/);
    },
  },
  {
    name: 'a Job beyond a LimitRange says so and holds nothing',
    queue,
    async run(cluster) {
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'small' },
        spec: { limits: [{ type: 'Container', max: { cpu: '500m' } }] },
      });
      await cluster.apply(
        job('large', { container: { resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } } }),
      );
      await cluster.saysAndFrees('large', /maximum cpu usage per Container is 500m/);
    },
  },
  {
    name: 'a Job whose pods a policy of the cluster refuses says its message and holds nothing',
    queue,
    async run(cluster) {
      const name = `${cluster.namespace}-owners`;
      await cluster.apply(
        {
          apiVersion: 'admissionregistration.k8s.io/v1',
          kind: 'ValidatingAdmissionPolicy',
          metadata: { name },
          spec: {
            matchConstraints: {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } },
              resourceRules: [
                { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
              ],
            },
            validations: [
              { expression: "'team' in object.metadata.labels", message: 'pods need the label team' },
            ],
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
      await cluster.apply(job('anonymous'));
      await cluster.saysAndFrees('anonymous', /pods need the label team/);
    },
  },
  {
    name: 'a Deployment beyond the ResourceQuota runs as many pods as the quota allows',
    async run(cluster) {
      await applyQuota(cluster, { pods: '2' });
      await cluster.apply(deployment('web', { pods: 3 }));
      await cluster.runs('web', 2);
    },
  },
];
