/**
 * `npm run -s bench:floor -- [--json] [--jobs 500] [--turns 3]`: what it costs the control plane to hold back a one-pod Job and to release it
 * onto a node, without a queue: Jobs as they are, Jobs that are created suspended, Jobs whose pods are created with a scheduling gate, Jobs
 * whose pods no scheduler serves and this process binds itself, and Jobs that a webhook pins while they are created, in turn. The releaser
 * of this process releases each at once.
 */
import { Command } from 'commander';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { createClient } from '../../runtime/kubernetes/client';
import { jobs as jobsPath, pods as podsPath } from '../../runtime/kubernetes/paths';
import { Reflector } from '../../runtime/kubernetes/reflector';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { type Cluster, startCluster } from '../cluster/cluster';
import { print, round, runJobs } from './jobs';
import { pinAtAdmission } from './pinning-webhook';
import { controlPlaneSeconds, sum, usedBetween } from './processes';
import { median } from './statistics';

const options = new Command('bench:floor')
  .option('--jobs <n>', 'one-pod Jobs per trial', Number, 500)
  .option('--nodes <n>', 'nodes', Number, 100)
  .option('--turns <n>', 'trials of each way', Number, 3)
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ jobs: number; nodes: number; turns: number; json: boolean }>();

const GATE = 'bench/held';
/** No scheduler has this name. */
const BINDER = 'bench-binder';
const FIRST_JOBS = 100;

/** A way to hold a Job back: how it is created, and how what was created is released. */
interface Way {
  readonly suspend?: boolean;
  readonly gated?: boolean;
  readonly schedulerName?: string;
  release?(client: KubernetesClient, namespace: string): { synced: Promise<void>; stop(): Promise<void> };
}

const WAYS: Readonly<Record<string, Way>> = {
  plain: {},
  suspended: { suspend: true, release: resumeJobs },
  gated: { gated: true, release: ungatePods },
  bound: { schedulerName: BINDER, release: bindPods },
  admitted: { release: (client, namespace) => pinAtAdmission(client, namespace, onNextNode) },
};

const jobOf =
  ({ suspend = false, gated = false, schedulerName }: Way) =>
  (name: string): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      suspend,
      template: {
        spec: {
          restartPolicy: 'Never',
          ...(gated && { schedulingGates: [{ name: GATE }] }),
          ...(schedulerName !== undefined && { schedulerName }),
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  });

let released = 0;
const nextNode = () => `node-${released++ % options.nodes}`;
const onNextNode = () => ({ 'kubernetes.io/hostname': nextNode() });

/** Pins the pods and starts the Job in one request. */
function resumeJobs(client: KubernetesClient, namespace: string) {
  return releaser<Job>(client, jobsPath(namespace), ({ metadata, spec }) => {
    if (spec.suspend !== true) return undefined;
    const body = { spec: { suspend: false, template: { spec: { nodeSelector: onNextNode() } } } };
    return () => client.patch(jobsPath(namespace, metadata.name), body, 'merge');
  });
}

/** Pins the pod and removes its gate in one request. */
function ungatePods(client: KubernetesClient, namespace: string) {
  return releaser<Pod>(client, podsPath(namespace), ({ metadata, spec }) => {
    if (spec.schedulingGates === undefined || spec.schedulingGates.length === 0) return undefined;
    const body = { spec: { schedulingGates: null, nodeSelector: onNextNode() } };
    return () => client.patch(podsPath(namespace, metadata.name), body, 'merge');
  });
}

/** Does what kube-scheduler would do, without its checks. */
function bindPods(client: KubernetesClient, namespace: string) {
  return releaser<Pod>(client, podsPath(namespace), ({ metadata, spec }) => {
    if (spec.schedulerName !== BINDER || spec.nodeName !== undefined) return undefined;
    const target = { apiVersion: 'v1', kind: 'Node', name: nextNode() };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: metadata.name }, target };
    return () => client.create(`${podsPath(namespace, metadata.name)}/binding`, binding);
  });
}

function releaser<K extends Job | Pod>(
  client: KubernetesClient,
  path: string,
  releaseOf: (object: K) => (() => Promise<unknown>) | undefined,
) {
  const seen = new Set<string>();
  const underWay = new Set<Promise<unknown>>();
  const reflector = new Reflector<K, K>({
    client,
    path,
    logger: createLogger('bench', 'silent'),
    onChange: (_, object) => {
      if (object === undefined || seen.has(object.metadata.uid)) return;
      const release = releaseOf(object);
      if (release === undefined) return;
      seen.add(object.metadata.uid);
      const done = release().finally(() => underWay.delete(done));
      underWay.add(done);
    },
  });
  reflector.start();
  return {
    synced: reflector.synced,
    stop: async () => {
      await Promise.all(underWay);
      await reflector.stop();
    },
  };
}

async function main(): Promise<void> {
  const cluster = await startCluster({
    nodes: options.nodes,
    nodeShape: { cpu: '16', memory: '64Gi' },
    progress: print,
  });
  const client = createClient({ kubeconfig: cluster.kubeconfig });
  try {
    process.stdout.write(
      `${JSON.stringify(await measure(cluster, client), undefined, options.json ? 0 : 2)}\n`,
    );
  } finally {
    client.close();
    await cluster.stop();
  }
}

async function measure(cluster: Cluster, client: KubernetesClient): Promise<object> {
  const names = Object.keys(WAYS);
  const trials = names.map((name) => ({ name, rates: [] as number[], cpuMs: [] as number[] }));
  for (let turn = 0; turn < options.turns; turn++)
    for (const { name, rates, cpuMs } of trials) {
      const namespace = `${name}-${turn}`;
      const trial = await run(cluster, client, namespace, WAYS[name]!);
      rates.push(trial.jobsPerSecond);
      cpuMs.push(trial.cpuMs);
      print(
        `${namespace}: ${round(trial.jobsPerSecond)} Jobs a second, ${round(trial.cpuMs)} ms of CPU each`,
      );
    }
  const [plain] = trials;
  return Object.fromEntries(
    trials.map(({ name, rates, cpuMs }) => [
      name,
      {
        jobsPerSecond: round(median(rates)),
        cpuMsPerJob: round(median(cpuMs)),
        ratio: round(median(rates) / median(plain!.rates)),
        cpuRatio: round(median(cpuMs) / median(plain!.cpuMs)),
      },
    ]),
  );
}

async function run(cluster: Cluster, client: KubernetesClient, namespace: string, way: Way) {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await cluster.waitFor('its ServiceAccount', () =>
    cluster.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
  );
  const releaser = way.release?.(client, namespace);
  await releaser?.synced;
  const burst = (prefix: string, count: number) =>
    runJobs(client, namespace, prefix, count, { jobOf: jobOf(way) });
  await burst('first', FIRST_JOBS);
  const before = controlPlaneSeconds(cluster);
  const { seconds } = await burst('job', options.jobs);
  const used = sum(usedBetween(before, controlPlaneSeconds(cluster)));
  await releaser?.stop();
  await cluster.request('DELETE', `/api/v1/namespaces/${namespace}`);
  return { jobsPerSecond: options.jobs / seconds, cpuMs: (used * 1000) / options.jobs };
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    print(String(error));
    process.exit(1);
  },
);
