// Own cluster: an audit log.
/**
 * Each component runs with exactly the rights of the manifests, and uses every one of them: the audit log of the apiserver
 * has a request for each rule, and none that was refused.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CONTROLLER_SERVICE_ACCOUNT,
  JOBID_ANNOTATION,
  STACK_NAMESPACE,
  WEBHOOK_SERVICE_ACCOUNT,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { ensurePassword } from '../../runtime/cli/database-password';
import { createClient } from '../../runtime/kubernetes/client';
import { fluxJobs, fluxSetups } from '../../runtime/kubernetes/custom-resources';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import { jobs, pods, secrets } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { applyPatch, deleteObject } from '../../runtime/kubernetes/writes';
import { miniClusters } from '../../runtime/miniclusters/resource';
import { createLogger } from '../../runtime/observability/log';
import { startWebhookRole } from '../../runtime/roles/webhook';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { webhookConfig } from '../constructs/fluxqueue/webhook-configuration';
import { stackObjects } from '../constructs/manifests';
import { gang } from '../kinds/objects';
import { applyStandIns } from '../kinds/stand-in';
import { send } from '../miniclusters/reporting';
import { accountsOf, RightsAudit } from './audited-rights';
import { runWithKeptStart } from './kept-start';
import { MiniClusters } from './minicluster-objects';
import { runtimeUrl } from './runtime-role';
import { loseServicePod } from './service-pods';
import { NEW_PODS, sidecarPolicy } from './sidecar-policy';
import { describeOwnStack } from './suite';
import { Namespace } from './workloads';

const audit = new RightsAudit();
const objects = stackObjects();
const DATABASE = 'fluxqueue-database';
/** Seconds. */
const UNSCHEDULABLE = 2;
/** Milliseconds: without a rest, what is tried again would keep the machine too busy for a dry run. */
const AGAIN = 2_000;

describeOwnStack(
  'the rights of the components',
  (getFixture) => {
    beforeAll(async () => {
      // The suite's stack has its runtime outside; these are the accounts of the stack that is deployed.
      await getFixture().stack.cluster.apply(accountsOf(objects));
    });
    afterAll(() => audit.remove());

    const expectUsed = (account: string) => audit.expectUsed(account, objects);

    test('the init container of the database uses all of its rights and needs no other', async () => {
      const { cluster } = getFixture().stack;
      const client = createClient({
        kubeconfig: await cluster.kubeconfigForServiceAccount(DATABASE, STACK_NAMESPACE),
      });
      const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-password-'));
      const options = {
        client,
        namespace: STACK_NAMESPACE,
        secret: DATABASE,
        url: 'postgres://u@h/d',
        folder,
      };
      await ensurePassword(options);
      await getFixture().client.delete(secrets(STACK_NAMESPACE, DATABASE));
      await ensurePassword(options);
      client.close();
      rmSync(folder, { recursive: true });
      await expectUsed(DATABASE);
    });

    test('the webhook uses all of its rights and needs no other', async () => {
      const { cluster } = getFixture().stack;
      const configuration = objects.filter(({ kind }) => kind === 'MutatingWebhookConfiguration');
      // Nobody serves it here: it selects no namespace.
      const idle = JSON.parse(JSON.stringify(configuration)) as (KubeObject & {
        webhooks: { namespaceSelector: object }[];
      })[];
      for (const { webhooks } of idle)
        for (const webhook of webhooks) webhook.namespaceSelector = { matchLabels: { nobody: 'true' } };
      await cluster.apply(idle);
      const config = await webhookConfig(cluster, objects);
      const logger = createLogger('test', 'silent');
      const path = secrets(STACK_NAMESPACE, 'fluxqueue-webhook-tls');
      await (await startWebhookRole(config, logger)).stop();
      await getFixture().client.delete(path);
      const role = await startWebhookRole(config, logger);
      try {
        await expectUsed(WEBHOOK_SERVICE_ACCOUNT);
      } finally {
        await role.stop();
      }
    });

    test('the controller uses all of its rights and needs no other', async () => {
      const { stack, client } = getFixture();
      const url = Buffer.from(await runtimeUrl(stack.postgres.url)).toString('base64');
      await client.patch(secrets(STACK_NAMESPACE, DATABASE), { data: { url, 'ca.crt': '' } }, 'merge');
      const kubeconfig = await stack.cluster.kubeconfigForServiceAccount(
        CONTROLLER_SERVICE_ACCOUNT,
        STACK_NAMESPACE,
      );
      const secret = { namespace: STACK_NAMESPACE, name: DATABASE, key: 'url' };
      const role = await stack.roles.start('controller', {
        kubernetes: { kubeconfig },
        database: { secret, migrate: false },
        fluxion: { address: 'embedded' },
        grants: { unschedulableSeconds: UNSCHEDULABLE },
        miniClusters: { reports: { port: 0, addresses: ['127.0.0.1'] } },
      });
      await waitFor('the controller', () => role.isReady());
      const science = await Namespace.create(getFixture, 'science');
      await runWorkloads(science);
      await runService();
      await askForSet();
      await runKinds();
      await runMiniClusters();
      await refuseWrites(kubeconfig, science);
      await expectUsed(CONTROLLER_SERVICE_ACCOUNT);
      await role.stop();
    });

    /** A FluxSetup, a Job whose FluxJob of an earlier Job exists, a bare pod, a Job that cannot create its pods, and pods without their claims. */
    async function runWorkloads(science: Namespace): Promise<void> {
      const { client, stack } = getFixture();
      const team = await client.create<KubeObject>(fluxSetups('science'), {
        apiVersion: 'flux-framework.org/v1alpha1',
        kind: 'FluxSetup',
        metadata: { name: 'team' },
        spec: {},
      });
      await client.create(fluxJobs('science'), {
        apiVersion: 'jobs.converged-computing.org/v1alpha1',
        kind: 'FluxJob',
        metadata: {
          name: 'train-job',
          // One without an owner would be deleted before.
          ownerReferences: [
            {
              apiVersion: 'flux-framework.org/v1alpha1',
              kind: 'FluxSetup',
              name: 'team',
              uid: team.metadata.uid,
            },
          ],
        },
        spec: {
          queue: 'team',
          workload: { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'earlier' },
        },
      });
      // Something else changes its pods, so that a dry run says what they will be.
      // In each namespace.
      const matchConstraints = { resourceRules: [NEW_PODS] };
      await stack.cluster.apply([...sidecarPolicy('science', { matchConstraints })]);
      const asked = async () => {
        await science.phase(await science.job(`asked-${Math.random().toString(36).slice(2)}`), 'Finished');
        return audit.used(CONTROLLER_SERVICE_ACCOUNT).has('create pods');
      };
      await waitFor('a dry run', asked, { everyMs: AGAIN });
      await science.phase(await science.job('train', { pods: 2 }), 'Finished');
      await science.phase(await science.pod('alone'), 'Finished');
      await runWithKeptStart(science, client);
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none', namespace: 'science' },
      };
      await stack.cluster.apply({ ...quota, spec: { hard: { pods: '0' } } });
      await waitFor('the quota to be in force', async () => {
        const path = '/api/v1/namespaces/science/resourcequotas/none';
        const { status } = await stack.cluster.get<KubeObject & { status?: { hard?: object } }>(path);
        return status?.hard;
      });
      const refused = await science.job('refused');
      await science.phase(refused, 'Waiting', 'Requeued');
      await client.delete('/api/v1/namespaces/science/resourcequotas/none');
      await science.delete(refused, 'Job');
      for (const [name, claim] of [
        ['claiming', { resourceClaimName: 'missing' }],
        ['templated', { resourceClaimTemplateName: 'missing' }],
      ] as const)
        await science.job(name, { podSpec: { resourceClaims: [{ name: 'gpu', ...claim }] } });
    }

    /** An object of each workload kind is started. Nobody makes their pods here. */
    async function runKinds(): Promise<void> {
      const { stack } = getFixture();
      await applyStandIns(stack.cluster, 'science');
      // A dry run is asked once for each template, and each kind has its own.
      for (const [index, kind] of WORKLOAD_KINDS.entries()) {
        let attempts = 0;
        await waitFor(
          `a dry run of ${kind.kind}`,
          async () => {
            // One that fails, on a busy machine, is not repeated within a minute in the same namespace.
            await runKind(kind, (await Namespace.create(getFixture, `kinds-${index}-${++attempts}`)).name);
            return audit.used(CONTROLLER_SERVICE_ACCOUNT).has(`get ${kind.group}/${kind.plural}`);
          },
          { everyMs: AGAIN },
        );
      }
    }

    /** It is deleted again: it would keep nodes from the next one for ever. */
    async function runKind(kind: WorkloadKind, namespace: string): Promise<void> {
      const { client } = getFixture();
      const path = kindPath(kind);
      await client.create<KubeObject>(path(namespace), gang(kind, 'gang'));
      await waitFor(`${kind.kind} to be started`, async () => {
        const { metadata } = await client.get<KubernetesObject>(path(namespace, 'gang'));
        return metadata.annotations?.[JOBID_ANNOTATION] !== undefined;
      });
      await client.delete(path(namespace, 'gang'));
    }

    /** A pod of a Deployment that cannot run on its node is evicted. */
    async function runService(): Promise<void> {
      const { client } = getFixture();
      const labels = { app: 'web' };
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'missing' } }];
      await client.create('/apis/apps/v1/namespaces/science/deployments', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [{ name: 'main', image: 'none' }],
              volumes,
              terminationGracePeriodSeconds: 0,
            },
          },
        },
      });
      await waitFor('an eviction', () => audit.used(CONTROLLER_SERVICE_ACCOUNT).has('create pods/eviction'));
      await client.delete('/apis/apps/v1/namespaces/science/deployments/web', {
        propagationPolicy: 'Background',
      });
    }

    /** Whether a StatefulSet makes its lost pod again. */
    async function askForSet(): Promise<void> {
      const { client } = getFixture();
      const set = await loseServicePod(client, 'science');
      const used = () => audit.used(CONTROLLER_SERVICE_ACCOUNT).has('get apps/statefulsets');
      await waitFor('its StatefulSet to be read', used);
      await client.delete(set, { propagationPolicy: 'Background' });
    }

    /** MiniClusters of both kinds of workload, with services that are removed again, an edit that is refused twice, and an end. */
    async function runMiniClusters(): Promise<void> {
      const clusters = new MiniClusters(getFixture, 'science');
      const services = [{ name: 'db', image: 'none', ports: [5432] }];
      const created = await clusters.create('served', {
        size: 1,
        services,
        cleanup: true,
        flux: { report: true },
      });
      await clusters.phase('served', 'Running');
      expect(await send(await clusters.reportContact('served'), { token: 'unknown' })).toBe(401);
      await clusters.patch('served', { services: null });
      await waitFor('the services to be deleted', async () => {
        const left = await clusters.ownedObjects(created);
        return !left.includes('Deployment/served-services') && !left.includes('Service/served-db');
      });
      const container = { image: 'none', command: 'hostname', resources: { requests: { cpu: 2 } } };
      for (const image of ['other', 'none', 'other', 'none']) {
        await clusters.patch('served', { containers: [{ ...container, image }] });
        await clusters.condition('served', 'Stalled', image === 'other' ? 'True' : 'False');
      }
      await clusters.create('lasting', { size: 1, maxSize: 2, workload: 'StatefulSet', interactive: true });
      await clusters.phase('lasting', 'Running');
      await clusters.patch('lasting', { size: 2 });
      await clusters.running('lasting', 2);
      const [lead] = await clusters.running('served', 1);
      await clusters.finishPod(lead as Pod, 0);
      await waitFor(
        'the finished MiniCluster to be deleted',
        async () => (await clusters.get('served')) === undefined,
      );
    }

    /**
     * After a write that the apiserver refuses, the controller reads the object. Only another object of the same name at the
     * right moment causes that, so here the same function writes for an object that does not exist any more.
     */
    async function refuseWrites(kubeconfig: string, science: Namespace): Promise<void> {
      const client = createClient({ kubeconfig });
      const body = { metadata: { uid: 'earlier' } };
      const job = await science.job('kept', { runs: '10m' });
      await science.phase(job, 'Running');
      const [pod] = await science.podsOf(job);
      for (const path of [
        pods('science', pod!.metadata.name),
        jobs('science', 'kept'),
        fluxJobs('science', 'kept-job'),
      ])
        expect([path, await applyPatch(client, path, { type: 'merge', body })]).toEqual([path, 'gone']);
      expect(await deleteObject(client, miniClusters('science', 'lasting'), { uid: 'earlier' })).toBe('gone');
      const invalid = { type: 'merge', body: { status: { waiting: 'many' } } } as const;
      await expect(
        applyPatch(client, fluxSetups('science', 'team', 'status'), invalid),
      ).rejects.toMatchObject({ status: 422 });
      const { client: admin } = getFixture();
      const metadata = {
        name: 'other',
        // The garbage collector deletes what has an owner that never existed: the object stays for the write nevertheless.
        finalizers: ['test.example/kept'],
        ownerReferences: [
          {
            apiVersion: 'flux-framework.org/v1alpha2',
            kind: 'MiniCluster',
            name: 'x',
            uid: 'x',
            controller: true,
          },
        ],
      };
      const spec = {
        replicas: 0,
        selector: { matchLabels: { app: 'other' } },
        template: {
          metadata: { labels: { app: 'other' } },
          spec: { containers: [{ name: 'main', image: 'none' }] },
        },
      };
      for (const [path, object] of [
        ['/api/v1/namespaces/science/services', { metadata, spec: { ports: [{ port: 1 }] } }],
        ['/apis/apps/v1/namespaces/science/deployments', { metadata, spec }],
      ] as const) {
        await admin.create<KubernetesObject>(path, object);
        const outcome = await deleteObject(client, `${path}/other`, { uid: 'earlier' });
        expect([path, outcome]).toEqual([path, 'gone']);
      }
      client.close();
    }
  },
  { cluster: { nodes: 4, nodeShape: { cpu: '8', memory: '64Gi' }, apiserverArgs: audit.apiserverArgs } },
);
