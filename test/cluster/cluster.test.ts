// Own clusters: they are what is tested.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Pod } from '../../runtime/kubernetes/types';
import { type Cluster, type KubeObject, startCluster } from './cluster';
import { isAlive } from './lock';
import { describeOwnCluster } from './suite';
import { waitFor } from './wait';

const PODS = '/api/v1/namespaces/default/pods';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';

function podTemplate(annotations: Record<string, string>): { metadata: object; spec: object } {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.test/main' }] };
  return { metadata: { annotations }, spec };
}

function indexedJob(name: string, completions: number, annotations: Record<string, string> = {}): object {
  const spec = { completions, parallelism: completions, completionMode: 'Indexed', backoffLimit: 0 };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { ...spec, template: podTemplate(annotations) },
  };
}

function jobEnd(cluster: Cluster, name: string): Promise<string> {
  return cluster.waitFor(`the Job ${name} to end`, async () => {
    const job = await cluster.get(`${JOBS}/${name}`);
    const { conditions = [] } = job.status as { conditions?: { type: string; status: string }[] };
    return conditions.find(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True')
      ?.type;
  });
}

async function podsOf(cluster: Cluster, job: string): Promise<KubeObject[]> {
  const list = await cluster.get<{ items: KubeObject[] }>(`${PODS}?labelSelector=job-name%3D${job}`);
  return list.items;
}

const phaseOf = (pod: KubeObject): string => (pod.status as { phase: string }).phase;

describeOwnCluster(
  'a cluster',
  (getCluster) => {
    test('runs an Indexed Job on the nodes until it completes', async () => {
      const cluster = getCluster();
      await cluster.create(indexedJob('three', 3));
      expect(await jobEnd(cluster, 'three')).toBe('Complete');
      const nodes = (await podsOf(cluster, 'three')).map(
        ({ spec }) => (spec as { nodeName: string }).nodeName,
      );
      expect(nodes).toEqual(Array(3).fill(expect.stringMatching(/^node-[0-3]$/)));
    });

    test('fails the pod with an exit code in its annotations', async () => {
      const cluster = getCluster();
      const annotations = {
        'fluxqueue.test/duration': '50ms',
        'fluxqueue.test/exit-code': '3',
        'fluxqueue.test/exit-code-index': '1',
      };
      await cluster.create(indexedJob('one-fails', 2, annotations));
      expect(await jobEnd(cluster, 'one-fails')).toBe('Failed');
      const failed = (await podsOf(cluster, 'one-fails')).filter((pod) => phaseOf(pod) === 'Failed');
      expect(failed).toHaveLength(1);
      expect(failed[0]?.metadata.annotations?.['batch.kubernetes.io/job-completion-index']).toBe('1');
      expect(failed[0]?.status).toMatchObject({
        containerStatuses: [{ state: { terminated: { exitCode: 3 } } }],
      });
    });

    test('runs a plain pod until its annotated duration or its deletion', async () => {
      const cluster = getCluster();
      const pod = (name: string, annotations: Record<string, string>) => {
        const { metadata, spec } = podTemplate(annotations);
        return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name }, spec };
      };
      await cluster.create([pod('stays', {}), pod('ends', { 'fluxqueue.test/duration': '1500ms' })]);
      const phase = async (name: string) => phaseOf(await cluster.get(`${PODS}/${name}`));
      await cluster.waitFor('the pod to end', async () => (await phase('ends')) === 'Succeeded');
      expect(await phase('stays')).toBe('Running');
      await cluster.request('DELETE', `${PODS}/stays`);
      await cluster.waitFor(
        'it to be gone',
        async () => (await cluster.api.send('GET', `${PODS}/stays`)).status === 404,
      );
    });

    test('ends a plain pod at its deadline, and one that is deleted before it ran without a start', async () => {
      const cluster = getCluster();
      const { metadata, spec } = podTemplate({});
      const late = {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'late' } },
        spec: { ...spec, activeDeadlineSeconds: 2 },
      };
      const image = {
        ...{ apiVersion: 'v1', kind: 'Pod', spec },
        metadata: {
          ...{ ...metadata, name: 'image', finalizers: ['fluxqueue.test/read'] },
          annotations: { 'fluxqueue.test/waits': 'ImagePullBackOff' },
        },
      };
      await cluster.create([late, image]);
      const status = async (name: string) =>
        (await cluster.get<{ status: NonNullable<Pod['status']> }>(`${PODS}/${name}`)).status;
      const ended = await cluster.waitFor('the deadline', async () => {
        const now = await status('late');
        return now.phase === 'Failed' && now;
      });
      expect(ended).toMatchObject({ reason: 'DeadlineExceeded' });
      const { startedAt, finishedAt } = ended.containerStatuses![0]!.state!.terminated!;
      expect(Date.parse(finishedAt!) - Date.parse(startedAt!)).toBeGreaterThanOrEqual(2_000);
      await cluster.waitFor('it to wait', async () => (await status('image')).containerStatuses);
      await cluster.request('DELETE', `${PODS}/image`);
      const { containerStatuses } = await cluster.waitFor('its end', async () => {
        const now = await status('image');
        return now.phase === 'Failed' && now;
      });
      expect(containerStatuses![0]!.state!.terminated!.startedAt ?? null).toBeNull();
      await cluster.request('PATCH', `${PODS}/image`, { metadata: { finalizers: null } });
    });

    test('adds nodes, makes them not ready and removes them', async () => {
      const cluster = getCluster();
      const [name = ''] = await cluster.addNodes(1, { cpu: '4', gpus: 8, labels: { rack: 'a' } });
      const path = `/api/v1/nodes/${name}`;
      expect(await cluster.get(path)).toMatchObject({
        metadata: { labels: { rack: 'a' } },
        status: { allocatable: { cpu: '4', memory: '64Gi', pods: '110', 'nvidia.com/gpu': '8' } },
      });
      const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' };
      const taints = async () => ((await cluster.get(path)).spec as { taints?: object[] }).taints ?? [];
      await cluster.request('PATCH', path, {
        metadata: { annotations: { 'fluxqueue.test/not-ready': 'yes' } },
      });
      await cluster.waitFor('the taint', async () => (await taints()).length === 2);
      expect(await taints()).toContainEqual(expect.objectContaining(taint));
      await cluster.request('PATCH', path, {
        metadata: { annotations: { 'fluxqueue.test/not-ready': null } },
      });
      await cluster.waitFor('the taint to go', async () => (await taints()).length === 0);
      await cluster.removeNode(name);
      expect((await cluster.api.send('GET', path)).status).toBe(404);
    });

    test('applies a custom resource right after its definition, and runs kubectl', async () => {
      const cluster = getCluster();
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      const definition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'things.example.test' },
        spec: {
          group: 'example.test',
          scope: 'Namespaced',
          names: { plural: 'things', singular: 'thing', kind: 'Thing' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      };
      const thing = 'apiVersion: example.test/v1\nkind: Thing\nmetadata: { name: first }\nsize: 4\n---\n';
      await cluster.apply(definition);
      expect(await cluster.apply(thing)).toMatchObject([{ metadata: { namespace: 'default' }, size: 4 }]);
      expect(await cluster.kubectl(['get', 'thing', 'first', '-o', 'jsonpath={.size}'])).toEqual({
        code: 0,
        stdout: '4',
        stderr: '',
      });
      const refused = await cluster.kubectl(['apply', '-f', '-'], { stdin: thing, user: 'user' });
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('User "user" cannot get resource'),
      });
    });

    test('grants a ServiceAccount exactly its permissions', async () => {
      const cluster = getCluster();
      const account = { kind: 'ServiceAccount', name: 'reader', namespace: 'default' };
      const group = 'rbac.authorization.k8s.io';
      await cluster.apply([
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader' } },
        {
          apiVersion: `${group}/v1`,
          kind: 'ClusterRoleBinding',
          metadata: { name: 'reader' },
          subjects: [account],
          roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'view' },
        },
      ]);
      const reader = cluster.clientFor(await cluster.tokenFor('reader', 'default'));
      expect(await reader.get(PODS)).toMatchObject({ kind: 'PodList' });
      await expect(reader.create(indexedJob('refused', 1))).rejects.toMatchObject({
        code: 'FLUXQ_TEST_API',
        value: 403,
      });
      reader.close();
    });

    test('counts requests by resource and by user', async () => {
      const cluster = getCluster();
      const before = await cluster.counters();
      await cluster.create([indexedJob('counted-1', 1), indexedJob('counted-2', 1)]);
      const spent = (await cluster.counters()).since(before);
      expect(spent.count({ verb: 'POST', resource: 'jobs', code: '201' })).toBe(2);
      const writes = cluster
        .auditedWrites()
        .filter(({ user, name }) => user === 'admin' && name === 'counted-1');
      expect(writes).toEqual([
        {
          user: 'admin',
          verb: 'create',
          group: 'batch',
          resource: 'jobs',
          subresource: '',
          namespace: 'default',
          name: 'counted-1',
          code: 201,
        },
      ]);
      expect(cluster.writesByUser().get('kwok')?.get('create leases')).toBeGreaterThanOrEqual(4);
    });

    test('serves MutatingAdmissionPolicy as v1', async () => {
      const { resources } = await getCluster().get<{ resources: { name: string }[] }>(
        '/apis/admissionregistration.k8s.io/v1',
      );
      expect(resources.map(({ name }) => name)).toContain('mutatingadmissionpolicies');
    });

    test('runs beside another, which leaves no process and no file after stop', async () => {
      const second = await startCluster({ scheduler: false });
      const { pids, directory } = second;
      try {
        expect(pids).toHaveLength(5);
        await second.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-here' } });
        expect((await getCluster().api.send('GET', '/api/v1/namespaces/only-here')).status).toBe(404);
      } finally {
        await second.stop();
        await second.stop();
      }
      expect(pids.filter(isAlive)).toEqual([]);
      expect(existsSync(directory)).toBe(false);
      expect(getCluster().pids.every(isAlive)).toBe(true);
    });

    test('stops when its process is killed', async () => {
      const code = `
        const { startCluster } = require('./cluster');
        const { startPostgres } = require('./postgres');
        Promise.all([startCluster(), startPostgres({ own: true })]).then(([cluster, postgres]) => {
          console.log(JSON.stringify([...cluster.pids, ...postgres.pids, cluster.directory]));
          setInterval(() => {}, 60_000);
        });`;
      const parent = spawn(process.execPath, ['--require', 'tsx/cjs', '--eval', code], {
        cwd: join(__dirname),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
      const left = JSON.parse(line) as (number | string)[];
      const pids = left.filter((item) => typeof item === 'number');
      const directory = left.find((item) => typeof item === 'string') ?? '';
      expect(pids).toHaveLength(8);
      expect(pids.every(isAlive)).toBe(true);
      parent.kill('SIGKILL');
      await waitFor('everything to be gone', () => !pids.some(isAlive) && !existsSync(directory));
    });

    test('keeps data and address when the apiserver is killed and restarted', async () => {
      const cluster = getCluster();
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kept' },
        data: { n: '7' },
      });
      await cluster.stopApiserver();
      await expect(cluster.get(PODS)).rejects.toThrow('ECONNREFUSED');
      await cluster.startApiserver();
      expect(await cluster.get('/api/v1/namespaces/default/configmaps/kept')).toMatchObject({
        data: { n: '7' },
      });
      await cluster.create(indexedJob('after', 1));
      expect(await jobEnd(cluster, 'after')).toBe('Complete');
    });
  },
  { nodes: 4, auditLog: true, tuning: { nodeMonitorSeconds: 1 } },
);
