// Own cluster: whole stacks are applied to it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Database, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { schedulerConfiguration } from '../../../constructs/fluxqueue/scheduler';
import { createLogger } from '../../../runtime/observability/log';
import { startWebhookRole } from '../../../runtime/roles/webhook';
import { findAssets } from '../../cluster/assets';
import type { Cluster, KubeObject } from '../../cluster/cluster';
import { freePorts } from '../../cluster/ports';
import { ProcessSet } from '../../cluster/processes';
import { describeOwnCluster } from '../../cluster/suite';
import { names, podTemplates, stackObjects } from '../manifests';
import { BAD_PODS, RESTRICTED_POD } from '../validation/pods';
import { placeOf } from './flow-schemas';
import { webhookConfig } from './webhook-configuration';

/** Together they include every object of the stack. */
const VARIANTS: [string, FluxQueueProps][] = [
  ['the defaults', {}],
  ['policies and a scheduler', { kubernetesVersion: '1.37.1', scheduler: true }],
  ['all namespaces and the webhook', { clusterWide: true, excludedNamespaces: ['infra'] }],
  [
    'an existing database and the embedded matcher',
    { database: Database.fromSecret(Secret.fromSecretName(new App(), 'db', 'db')), fluxion: 'embedded' },
  ],
];

describeOwnCluster(
  'the stack on a real apiserver',
  (getCluster) => {
    // Cluster-wide admission without its webhook would block all other requests of this suite: it is only a dry run.
    describe.each(VARIANTS)('with %s', (_, props) => {
      const objects = stackObjects(props);

      test('is accepted with strict field validation in a dry run', async () => {
        const namespace = objects.filter(({ kind }) => kind === 'Namespace');
        await getCluster().apply(namespace);
        const answers = await Promise.all(objects.map((object) => strictDryRun(getCluster(), object)));
        expect(answers.filter((answer) => answer !== undefined)).toEqual([]);
      });

      if (props.clusterWide === true) return;

      test('is applied, and a second apply changes nothing', async () => {
        const first = await getCluster().apply(objects);
        expect(names(first)).toEqual(names(objects));
        const second = await getCluster().apply(objects);
        expect(second.map(version)).toEqual(first.map(version));
      });

      test('has pods that Pod Security restricted accepts', async () => {
        for (const { owner, metadata, spec: template } of podTemplates(objects)) {
          // A StatefulSet adds this volume for its claim.
          const volumes = [...(template.volumes ?? []), { name: 'data', emptyDir: {} }];
          const spec = { ...template, volumes };
          const pod = {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { ...metadata, name: `${owner}-pod`, namespace: 'fluxqueue-system' },
            spec,
          };
          const path = '/api/v1/namespaces/fluxqueue-system/pods?dryRun=All&fieldValidation=Strict';
          const { status, text } = await getCluster().api.send('POST', path, pod);
          expect([owner, status, status === 201 ? '' : text]).toEqual([owner, 201, '']);
        }
      });
    });

    test.each([['a restricted pod', [{}, '']] as const, ...Object.entries(BAD_PODS)])(
      'Pod Security judges %s as the validation plugin does',
      async (_, [parts, problem]) => {
        const { metadata, ...pod } = RESTRICTED_POD(parts);
        const namespace = 'fluxqueue-system';
        const { status } = await getCluster().api.send(
          'POST',
          `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
          { ...pod, metadata: { ...metadata, namespace } },
        );
        expect(status).toBe(problem === '' ? 201 : 403);
      },
    );

    test('Pod Security rejects a privileged pod in its namespace', async () => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'root', namespace: 'fluxqueue-system' },
        spec: { containers: [{ name: 'root', image: 'x' }] },
      };
      const { status, text } = await getCluster().api.send(
        'POST',
        '/api/v1/namespaces/fluxqueue-system/pods?dryRun=All',
        pod,
      );
      expect(status).toBe(403);
      expect(text).toContain('violates PodSecurity');
    });

    test('gets its pods created and scheduled by the Kubernetes controllers', async () => {
      // The database is pending, because this cluster has no volume provisioner.
      const expected = ['fluxqueue-controller', 'fluxqueue-scheduler', 'fluxqueue-webhook'];
      for (const name of expected) {
        await getCluster().waitFor(`two pods of ${name}`, async () => {
          const { status } = await getCluster().get<{ status: { readyReplicas?: number } }>(
            `/apis/apps/v1/namespaces/fluxqueue-system/deployments/${name}`,
          );
          return status.readyReplicas === 2;
        });
      }
    });

    describe('rights', () => {
      const SYSTEM = 'fluxqueue-system';
      test.each<[string, string, string, string, string | undefined, string, boolean]>([
        // account, verb, group, resource, namespace, name, allowed
        ['fluxqueue-controller', 'patch', 'batch', 'jobs', 'science', 'any', true],
        ['fluxqueue-controller', 'delete', 'batch', 'jobs', 'science', 'any', false],
        ['fluxqueue-controller', 'watch', '', 'nodes', undefined, '', true],
        ['fluxqueue-controller', 'patch', '', 'nodes', undefined, 'node-0', false],
        // The database of the last variant.
        ['fluxqueue-controller', 'get', '', 'secrets', SYSTEM, 'db', true],
        ['fluxqueue-controller', 'update', '', 'secrets', SYSTEM, 'db', false],
        ['fluxqueue-controller', 'get', '', 'secrets', SYSTEM, 'fluxqueue-database', false],
        [
          'fluxqueue-controller',
          'update',
          'coordination.k8s.io',
          'leases',
          SYSTEM,
          'fluxqueue-controller',
          true,
        ],
        ['fluxqueue-controller', 'update', 'coordination.k8s.io', 'leases', SYSTEM, 'another', false],
        ['fluxqueue-controller', 'create', 'jobs.converged-computing.org', 'fluxjobs', 'science', '', true],
        ['fluxqueue-webhook', 'update', '', 'secrets', SYSTEM, 'fluxqueue-webhook-tls', true],
        ['fluxqueue-webhook', 'get', '', 'secrets', SYSTEM, 'fluxqueue-database', false],
        ['fluxqueue-webhook', 'create', '', 'secrets', SYSTEM, 'fluxqueue-webhook-tls', true],
        ['fluxqueue-webhook', 'create', '', 'secrets', 'science', 'fluxqueue-webhook-tls', false],
        ['fluxqueue-database', 'create', '', 'secrets', 'science', 'fluxqueue-database', false],
        ['fluxqueue-webhook', 'get', '', 'secrets', 'science', 'fluxqueue-webhook-tls', false],
        ['fluxqueue-webhook', 'list', 'batch', 'jobs', 'science', '', false],
        ['fluxqueue-database', 'update', '', 'secrets', SYSTEM, 'fluxqueue-database', true],
        ['fluxqueue-database', 'get', '', 'secrets', SYSTEM, 'fluxqueue-webhook-tls', false],
        ['fluxqueue-scheduler', 'create', '', 'pods/binding', 'science', 'any', true],
        [
          'fluxqueue-scheduler',
          'update',
          'coordination.k8s.io',
          'leases',
          SYSTEM,
          'fluxqueue-scheduler',
          true,
        ],
        ['fluxqueue-scheduler', 'get', '', 'secrets', SYSTEM, 'fluxqueue-database', false],
      ])(
        '%s: %s %s/%s in %s named %s: %s',
        async (account, verb, group, resource, namespace, name, allowed) => {
          const [kind, subresource] = resource.split('/');
          const review = await getCluster().request<{ status: { allowed: boolean } }>(
            'POST',
            '/apis/authorization.k8s.io/v1/subjectaccessreviews',
            {
              apiVersion: 'authorization.k8s.io/v1',
              kind: 'SubjectAccessReview',
              spec: {
                user: `system:serviceaccount:${SYSTEM}:${account}`,
                groups: [
                  'system:serviceaccounts',
                  `system:serviceaccounts:${SYSTEM}`,
                  'system:authenticated',
                ],
                resourceAttributes: { verb, group, resource: kind, subresource, namespace, name },
              },
            },
          );
          expect(review.status.allowed).toBe(allowed);
        },
      );
    });

    test('renewals of the Lease have the level of leader elections, and other requests that of controllers', async () => {
      const account = getCluster().api.as(
        await getCluster().tokenFor('fluxqueue-controller', 'fluxqueue-system'),
      );
      const leases = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';
      // The apiserver reads a new FlowSchema a moment after it has stored it.
      const place = (path: string, expected: string) =>
        getCluster().waitFor(expected, async () => (await placeOf(getCluster(), account, path)) === expected);
      await place(leases, 'fluxqueue-leases leader-election');
      await place('/api/v1/nodes', 'fluxqueue-requests workload-high');
      account.close();
    });

    test('the webhook writes its certificate and CA bundle with the rights of its account, and another apply of the stack keeps them', async () => {
      const objects = stackObjects();
      await getCluster().apply(objects);
      const role = await startWebhookRole(
        await webhookConfig(getCluster(), objects),
        createLogger('test', 'silent'),
      );
      try {
        await getCluster().apply(objects);
        const secret = await getCluster().get<{ data: Record<string, string> }>(
          '/api/v1/namespaces/fluxqueue-system/secrets/fluxqueue-webhook-tls',
        );
        const { webhooks } = await getCluster().get<{ webhooks: { clientConfig: { caBundle: string } }[] }>(
          '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/fluxqueue',
        );
        const trusted = webhooks.map(({ clientConfig }) => clientConfig.caBundle);
        expect(trusted).toEqual(Array(trusted.length).fill(secret.data['ca.crt']));
        expect(secret.data['tls.key']).toMatch(/./);
      } finally {
        await role.stop();
      }
    });

    test('kube-scheduler becomes leader and binds a pinned pod with the configuration and rights of the stack', async () => {
      const { scheduler, stop } = await startOurScheduler(getCluster());
      try {
        await getCluster().create(pinnedPod('node-1'));
        const node = await getCluster().waitFor('the pod to be bound', async () => {
          if (!scheduler.running) throw new Error(scheduler.logTail());
          const { spec } = await getCluster().get<{ spec: { nodeName?: string } }>(
            '/api/v1/namespaces/kube-system/pods/pinned',
          );
          return spec.nodeName;
        });
        expect(node).toBe('node-1');
        const lease = await getCluster().get<{ spec: { holderIdentity: string } }>(
          '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-scheduler',
        );
        expect(lease.spec.holderIdentity).not.toBe('');
        expect(scheduler.logTail(1000)).not.toMatch(/forbidden/i);
      } finally {
        await stop();
      }
    });
  },
  { nodes: 2 },
);

/** The program as the stack's Deployment starts it, with the token of its ServiceAccount. */
async function startOurScheduler(cluster: Cluster) {
  const kubeconfig = await cluster.kubeconfigForServiceAccount('fluxqueue-scheduler', 'fluxqueue-system');
  const [port = 0] = await freePorts(1);
  const processes = ProcessSet.create('fluxqueue-scheduler');
  const configuration = schedulerConfiguration('fluxqueue-system');
  const connection = { ...(configuration.clientConnection as object), kubeconfig };
  const file = join(processes.directory, 'config.yaml');
  writeFileSync(file, JSON.stringify({ ...configuration, clientConnection: connection }));
  const { 'kube-scheduler': program } = await findAssets();
  const scheduler = await processes.start('kube-scheduler', program, [
    `--config=${file}`,
    `--secure-port=${port}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
  ]);
  return { scheduler, stop: () => processes.stop() };
}

/** The guards exclude kube-system; in other namespaces the scheduler's name is reserved for admitted pods. */
function pinnedPod(node: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pinned', namespace: 'kube-system' },
    spec: {
      schedulerName: 'fluxqueue-scheduler',
      containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
          },
        },
      },
    },
  };
}

/** Undefined when the apiserver accepts the object without unknown fields, else its answer. */
async function strictDryRun({ api }: Cluster, object: KubeObject): Promise<string | undefined> {
  const query = 'fieldManager=test&force=true&dryRun=All&fieldValidation=Strict';
  const path = `${await api.collection(object)}/${object.metadata.name}?${query}`;
  const { status, text } = await api.send('PATCH', path, object, 'application/apply-patch+yaml');
  return status < 300 ? undefined : `${object.kind} ${object.metadata.name}: ${text}`;
}

/** The generation, because controllers write statuses meanwhile; the resource version of objects without generation. */
function version({ kind, metadata, spec }: KubeObject): string {
  // Without a generation, and Kubernetes writes their status.
  if (kind === 'APIService' || kind === 'PersistentVolumeClaim')
    return `${kind}/${metadata.name} ${JSON.stringify(spec)}`;
  return `${kind}/${metadata.name} ${metadata.generation ?? metadata.resourceVersion}`;
}
