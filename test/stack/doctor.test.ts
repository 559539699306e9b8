// Own cluster: the stack is broken in many ways.
/** `fluxqueue doctor` on a healthy stack, and after one thing after the other was broken. */

import { App, Chart } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { CONTROLLER_LEASE, NAMESPACE_LABEL, STACK_NAMESPACE } from '../../constructs/api/labels';
import { Database } from '../../constructs/fluxqueue/database';
import { version } from '../../package.json';
import { nodes, resourcePath } from '../../runtime/kubernetes/paths';
import type { KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { examine, trouble, troubles } from './doctor-report';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { ADA } from './users';
import { Namespace } from './workloads';

const DEPLOYMENT = resourcePath({
  group: 'apps',
  resource: 'deployments',
  namespace: STACK_NAMESPACE,
  name: 'fluxqueue-controller',
});
const LEASE = resourcePath({
  group: 'coordination.k8s.io',
  resource: 'leases',
  namespace: STACK_NAMESPACE,
  name: CONTROLLER_LEASE,
});
const REGISTRATION = 'admissionregistration.k8s.io';

/** The database is outside, because nothing gives the simulated one a volume. */
function existingDatabase(): Database {
  return Database.fromSecret(
    Secret.fromSecretName(new Chart(new App(), 'names'), 'database', 'own-database'),
  );
}

describeOwnStack(
  'fluxqueue doctor, with admission by policies',
  (getFixture) => {
    let controller: RoleProcess;
    let science: Namespace;
    const doctor = (...args: string[]) =>
      examine(getFixture(), getFixture().stack.cluster.kubeconfig, ...args);

    beforeAll(async () => {
      const { stack } = getFixture();
      await stack.cluster.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'own-database', namespace: STACK_NAMESPACE },
        stringData: { url: 'postgres://somebody@somewhere/fluxqueue' },
      });
      const pod = await waitFor('a pod of the controller', async () => {
        const path = `/api/v1/namespaces/${STACK_NAMESPACE}/pods?labelSelector=app.kubernetes.io/component=controller`;
        const { items } = await stack.cluster.get<{ items: Pod[] }>(path);
        return items.find(({ status }) => status?.phase === 'Running');
      });
      // As the downward API gives it to the process in the pod.
      controller = await stack.startController({ leaderElection: { podUid: pod.metadata.uid } });
      science = await Namespace.create(getFixture, 'science');
    });

    /** The object, gone while the work runs. */
    async function without(path: string, work: () => Promise<void>): Promise<void> {
      const { client, stack } = getFixture();
      const { metadata, ...object } = await client.get<KubernetesObject>(path);
      await client.delete(path);
      try {
        await work();
      } finally {
        const { name, labels, annotations } = metadata;
        await stack.cluster.apply({ ...object, metadata: { name, labels, annotations } } as never);
      }
    }

    test('finds nothing wrong with a healthy stack, in which one Job runs and one waits', async () => {
      const running = await science.job('running', { cores: 15, pods: 2, runs: '10m' });
      await science.phase(running, 'Running');
      await science.phase(await science.job('waiting', { cores: 15 }), 'Waiting');
      const report = await waitFor('all to be well', async () => {
        const seen = await doctor();
        return troubles(seen).length === 0 ? seen : undefined;
      });
      expect(report.code).toBe(0);
      const said = report.findings.map(({ check, message }) => `${check}: ${message}`);
      expect(said).toEqual(
        expect.arrayContaining([
          'kubernetes: the apiserver is v1.37.1',
          'crds: fluxjobs, fluxsetups, miniclusters have the fields of this version',
          `versions: all programs of the stack are version ${version}, as this one`,
          `deployments: available in ${STACK_NAMESPACE}: fluxqueue-controller`,
          'certificates: admission by policies needs no certificate',
          'namespaces: a new Job and a new pod would wait in the queue in 1 namespace: science',
          'waiting: 1 workload waiting, none for over a minute without its FluxJob',
          'grants: every pod of a running workload is on a node that was granted to it',
        ]),
      );
      expect(said.find((text) => text.startsWith('leader:'))).toMatch(
        /^leader: fluxqueue-controller-\S+ leads since .* renewed the Lease \d s ago$/,
      );
      const { stack } = getFixture();
      const table = await stack.roles.once(['doctor'], { KUBECONFIG: stack.cluster.kubeconfig });
      expect(table).toMatch(/^RESULT +CHECK +FINDING\nok +kubernetes +the apiserver is v1\.37\.1\n/);
    });

    test('a guard without its binding is not in force', async () => {
      const path = resourcePath({
        group: REGISTRATION,
        resource: 'validatingadmissionpolicybindings',
        name: 'fluxqueue-guard-jobs',
      });
      await without(path, async () => {
        const report = await doctor();
        expect(troubles(report)).toEqual([
          {
            check: 'guards',
            level: 'error',
            message:
              'ValidatingAdmissionPolicy is not in force, because no binding names it: fluxqueue-guard-jobs',
            remedy: expect.stringContaining('kubectl apply --server-side -f fluxqueue-6-admission.k8s.yaml'),
          },
        ]);
        expect(report.code).toBe(1);
        expect(report.stderr).toBe(
          'FLUXQ_UNHEALTHY: the stack has 1 error and 0 warnings; do what the report says below each of them\n',
        );
      });
      expect(troubles(await doctor())).toEqual([]);
    });

    test('a Job that would start without the queue is an error, by a dry run', async () => {
      const path = resourcePath({
        group: REGISTRATION,
        resource: 'mutatingadmissionpolicybindings',
        name: 'fluxqueue-jobs',
      });
      await without(path, async () => {
        const found = await waitFor('the apiserver to notice', async () =>
          trouble(await doctor(), 'namespaces'),
        );
        expect(found).toMatchObject({
          level: 'error',
          message:
            'a new Job in namespace science would start without the queue: a dry run of one was not held',
        });
        expect(trouble(await doctor(), 'admission')?.message).toBe(
          'MutatingAdmissionPolicy is not in force, because no binding names it: fluxqueue-jobs',
        );
      });
      await waitFor('admission', async () => troubles(await doctor()).length === 0);
    });

    test('a CRD of an older version lacks fields', async () => {
      const { client, stack } = getFixture();
      const name = 'fluxsetups.flux-framework.org';
      const path = resourcePath({
        group: 'apiextensions.k8s.io',
        resource: 'customresourcedefinitions',
        name,
      });
      const field = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/finished';
      const { spec } = await client.get<{ spec: object }>(path);
      await client.patch(path, [{ op: 'remove', path: field }], 'json');
      expect(trouble(await doctor(), 'crds')).toMatchObject({
        level: 'error',
        message: `${name} lacks fields of this version: status.finished`,
        remedy: expect.stringContaining('fluxqueue-0-base.k8s.yaml'),
      });
      await client.patch(path, { spec }, 'merge');
      await stack.cluster.waitFor('the field', async () => trouble(await doctor(), 'crds') === undefined);
    });

    test('a misspelled label and a cordoned node are warnings, which leave the exit code 0', async () => {
      const { client, stack } = getFixture();
      const metadata = { name: 'nearly', labels: { [NAMESPACE_LABEL]: 'yes' } };
      await stack.cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
      await client.patch(nodes('node-1'), { spec: { unschedulable: true } }, 'merge');
      const report = await doctor();
      expect(troubles(report)).toEqual([
        {
          check: 'namespaces',
          level: 'warning',
          message: 'namespace nearly has fluxqueue/enabled: "yes", which is neither "true" nor "false"',
          remedy: 'kubectl label --overwrite namespace nearly fluxqueue/enabled=true',
        },
        {
          check: 'nodes',
          level: 'warning',
          message: 'the queue grants 1 of 2 nodes, not node-1 (cordoned)',
          remedy: expect.stringContaining('kubectl uncordon NAME'),
        },
      ]);
      expect(report.code).toBe(0);
      await client.patch(nodes('node-1'), { spec: { unschedulable: false } }, 'merge');
      await client.delete('/api/v1/namespaces/nearly');
      await waitFor('no trouble', async () => troubles(await doctor()).length === 0);
    });

    test('a user without rights learns which ones are missing', async () => {
      const { stack } = getFixture();
      const report = await examine(getFixture(), stack.cluster.kubeconfigForUser(ADA));
      expect(new Set(report.findings.map(({ level }) => level))).toEqual(new Set(['ok', 'unknown']));
      expect(trouble(report, 'leader')).toEqual({
        check: 'leader',
        level: 'unknown',
        message: `not checked: you may not get leases.coordination.k8s.io in namespace ${STACK_NAMESPACE}`,
        remedy: expect.stringContaining('run this as a user with that right'),
      });
      expect(trouble(report, 'nodes')?.message).toBe(
        'not checked: you may not list nodes in the whole cluster',
      );
      expect(report.code).toBe(0);
    });

    test('another namespace has no stack', async () => {
      const report = await doctor('-n', 'science');
      expect(trouble(report, 'deployments')).toMatchObject({
        level: 'error',
        message: 'namespace science has no Deployment fluxqueue-controller, and no other controller leads',
        remedy: 'apply the stack, or name its namespace with -n',
      });
    });

    test('a new image that cannot be pulled, while the pods of the old one go on', async () => {
      const { client } = getFixture();
      const rollOut = (annotations: Record<string, string | null>) =>
        client.patch(DEPLOYMENT, { spec: { template: { metadata: { annotations } } } }, 'merge');
      await rollOut({ 'fluxqueue.test/waits': 'ImagePullBackOff' });
      const found = await waitFor('the new pod', async () => {
        const pods = trouble(await doctor(), 'pods');
        return pods?.level === 'error' ? pods : undefined;
      });
      expect(found.message).toMatch(
        /^pod fluxqueue-controller-\S+ cannot get the image of container controller: ImagePullBackOff: image ghcr\.io/,
      );
      expect(found.remedy).toContain('npm run images');
      await rollOut({ 'fluxqueue.test/waits': null });
      await waitFor('the old state', async () => troubles(await doctor()).length === 0);
    });

    test('a leader that died, and what waits for it', async () => {
      await controller.crash();
      // As if it had died a while ago: nobody renews or takes the Lease.
      const renewTime = new Date(Date.now() - 45_000).toISOString().replace('Z', '000Z');
      await getFixture().client.patch(LEASE, { spec: { leaseDurationSeconds: 1, renewTime } }, 'merge');
      const report = await waitFor('the Lease to be old', async () => {
        const seen = await doctor();
        return trouble(seen, 'leader')?.level === 'error' ? seen : undefined;
      });
      expect(trouble(report, 'leader')?.message).toMatch(
        /^no controller leads: fluxqueue-controller-\S+ has not renewed the Lease for \d+ s, and no other took it$/,
      );
      expect(trouble(report, 'leftovers')).toEqual({
        check: 'leftovers',
        level: 'error',
        message: '1 workload waiting for a queue that nobody runs: job/waiting in science',
        remedy: 'bring a controller up (see the findings about it), and they start in their order',
      });
    });

    test('a controller that is scaled to 0, and a Lease that is gone', async () => {
      const { client } = getFixture();
      await client.patch(DEPLOYMENT, { spec: { replicas: 0 } }, 'merge');
      await client.delete(LEASE);
      const report = await doctor();
      expect(trouble(report, 'deployments')).toEqual({
        check: 'deployments',
        level: 'error',
        message: 'fluxqueue-controller is scaled to 0: no workload is released; what runs goes on',
        remedy: `kubectl -n ${STACK_NAMESPACE} scale deployment/fluxqueue-controller --replicas 2`,
      });
      expect(trouble(report, 'leader')?.message).toBe(
        `namespace ${STACK_NAMESPACE} has no Lease fluxqueue-controller: no controller has ever led`,
      );
    });
  },
  {
    cluster: { nodes: 2, users: [ADA] },
    runtimePods: true,
    createsMiniClusters: false,
    // Pods that kwok simulates answer no questions.
    props: { database: existingDatabase(), readApi: false },
  },
);
