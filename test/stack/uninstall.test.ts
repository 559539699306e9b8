// Own cluster: the stack is removed.
/** The stack leaves a cluster in which workloads wait, are held and run. */
import { HOLD } from '../../constructs/api/labels';
import { Database } from '../../constructs/fluxqueue';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { stackObjects } from '../constructs/manifests';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { Namespace } from './workloads';

describeOwnStack(
  'fluxqueue uninstall',
  (getFixture) => {
    let science: Namespace;
    let controller: RoleProcess;
    beforeAll(async () => {
      controller = await getFixture().stack.startController();
      science = await Namespace.create(getFixture, 'science');
    });

    const uninstall = (...args: string[]) =>
      getFixture().stack.roles.once(['uninstall', ...args], {
        KUBECONFIG: getFixture().stack.cluster.kubeconfig,
      });
    const found = async (path: string) => (await getFixture().stack.cluster.api.send('GET', path)).status;
    const POLICY = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/fluxqueue-jobs';
    const CRD =
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/fluxjobs.jobs.converged-computing.org';

    test('does nothing while workloads wait', async () => {
      const running = await science.job('running', { runs: '1h', cores: 4 });
      await science.phase(running, 'Running');
      const waiting = await science.job('waiting', { runs: '1h', cores: 4 });
      await science.phase(waiting, 'Waiting');
      const held = await science.job('held', { annotations: { [HOLD]: 'true' } });
      await science.phase(held, 'Waiting', 'Held');
      const gated = await science.pod('gated', { runs: '1h', cores: 4 });
      await science.phase(gated, 'Waiting');
      await expect(uninstall()).rejects.toThrow(
        'FLUXQ_WORKLOADS_WAIT: 2 workloads wait in the queue and would wait for ever: Job science/waiting, Pod science/gated',
      );
      expect(await found(POLICY)).toBe(200);
    });

    test('does nothing where the stack is in another namespace', async () => {
      await expect(uninstall('--release', '--namespace', 'elsewhere')).rejects.toThrow(
        'FLUXQ_NAMESPACE_UNKNOWN: --namespace: the stack is in namespace fluxqueue-system (got "elsewhere"); give --namespace fluxqueue-system',
      );
      expect(await found(POLICY)).toBe(200);
    });

    test('does nothing while a controller leads that does not go with the stack', async () => {
      await expect(uninstall('--release')).rejects.toThrow('FLUXQ_CONTROLLER_RUNS: the controller on ');
      expect(await found(POLICY)).toBe(200);
    });

    test('with --release starts what waits, leaves what its user holds, and keeps the data', async () => {
      const { client, stack } = getFixture();
      await controller.stop();
      const [dump] = stackObjects({ database: Database.statefulSet({ backup: {} }) }).filter(
        ({ kind }) => kind === 'Job',
      );
      await stack.cluster.apply(dump!);
      const said = await uninstall('--release');
      expect(said).toContain('released Job science/waiting\n');
      expect(said).toContain('released Pod science/gated\n');
      await waitFor('their pods', async () => {
        const { spec } = await client.get<Job>(jobs('science', 'waiting'));
        const pod = await client.get<Pod>(pods('science', 'gated'));
        return spec.suspend === false && (pod.spec.schedulingGates ?? []).length === 0;
      });
      expect((await client.get<Job>(jobs('science', 'held'))).spec.suspend).toBe(true);
      expect((await client.get<Job>(jobs('science', 'running'))).status?.active).toBe(1);
      expect(await found(POLICY)).toBe(404);
      expect(await found(CRD)).toBe(200);
      await waitFor(
        'the Job of the first dump to go',
        async () => (await found(jobs('fluxqueue-system', dump!.metadata.name!))) === 404,
      );
      // A Job that nobody admits starts at once.
      await waitFor('admission to end', async () => {
        const spec = {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
        };
        const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'new' }, spec };
        return !(await stack.cluster.request<Job>('POST', `${jobs('science')}?dryRun=All`, job)).spec.suspend;
      });
    });

    test('with --delete-data leaves nothing, and may be repeated', async () => {
      await uninstall('--delete-data');
      await waitFor('the API types and the namespace to go', async () => {
        const left = await Promise.all([CRD, '/api/v1/namespaces/fluxqueue-system'].map(found));
        return left.every((status) => status === 404);
      });
      await uninstall('--delete-data');
    });
  },
  {
    cluster: { nodes: 1, nodeShape: { cpu: '4', memory: '64Gi' } },
    // Nobody answers for it here: the namespace of the stack can only go after it.
    readApi: true,
  },
);
