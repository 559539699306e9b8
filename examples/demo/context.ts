/** The demo on an existing cluster: asks for confirmation, runs the roles locally, and deletes its objects at the end. */
import { createInterface } from 'node:readline/promises';
import { App } from 'cdk8s';
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { defaultStack } from '../../constructs/fluxqueue/index';
import { FluxqError } from '../../runtime/errors';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { nodes } from '../../runtime/kubernetes/paths';
import type { Node } from '../../runtime/kubernetes/types';
import { openQueue } from '../../runtime/queue/queue';
import { startPostgres } from '../../test/cluster/postgres';
import { Roles } from '../../test/stack/roles';
import { Applier } from './apply';
import { nextCommands, nextRuns, PLUGIN_SCRIPT, printCommands } from './next-commands';
import type { DemoOptions } from './options';
import { type RunResult, runDemo, summarize, untilShown } from './run';
import type { Screen } from './screen';
import { roleSettings, UNITS } from './settings';
import type { Plans, ShownNode } from './snapshot';
import { type Capacity, demoWorkloads, type Manifest } from './workloads';

const NAMESPACE = 'fluxqueue-demo';

export async function runOnContext(
  context: string,
  options: DemoOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<RunResult> {
  const client = createClient({ context });
  try {
    const manifests = await plan(client, context);
    await confirm(context, client, manifests, options);
    return await run({ context, client, manifests, options, screen, signal });
  } finally {
    client.close();
  }
}

/** All objects that the demo applies. */
async function plan(client: KubernetesClient, context: string): Promise<readonly Manifest[]> {
  const { gitVersion } = await client.get<{ gitVersion: string }>('/version');
  const { groups } = await client.get<{ groups: readonly { name: string }[] }>('/apis');
  const kubernetesVersion = gitVersion.replace(/^v/, '').replace(/[+-].*$/, '');
  const [major = 0, minor = 0] = kubernetesVersion.split('.').map(Number);
  if (!groups.some(({ name }) => name === 'admissionregistration.k8s.io') || (major === 1 && minor < 36))
    throw new FluxqError('FLUXQ_DEMO_CONTEXT', 'the apiserver does not serve MutatingAdmissionPolicy v1', {
      field: `context ${context}`,
      value: gitVersion,
      remedy: 'use Kubernetes 1.36 or newer for the demo, or install the stack with admission by webhook',
    });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { status } = await client.create<{ status: { userInfo: { username: string } } }>(
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    review,
  );
  const app = new App();
  const externalRuntime = { users: [status.userInfo.username] };
  defaultStack(app, { kubernetesVersion, admission: 'policies', externalRuntime });
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { [NAMESPACE_LABEL]: 'true' } },
  };
  return [...app.charts.flatMap((chart) => chart.toJson() as Manifest[]), namespace];
}

async function confirm(
  context: string,
  { server }: KubernetesClient,
  manifests: readonly Manifest[],
  { yes }: DemoOptions,
): Promise<void> {
  process.stderr.write(`This applies ${manifests.length} objects to context ${context} (${server}):\n`);
  for (const { kind, metadata } of manifests) process.stderr.write(`  ${kind} ${metadata.name}\n`);
  process.stderr.write('and deletes them at the end (unless --keep is set).\n');
  if (yes) return;
  const refusal = new FluxqError('FLUXQ_DEMO_CONTEXT', 'no object was applied', {
    field: `context ${context}`,
    remedy: 'answer y, or use --yes',
  });
  if (!process.stdin.isTTY) throw refusal;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Apply? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw refusal;
}

interface Run {
  readonly context: string;
  readonly client: KubernetesClient;
  readonly manifests: readonly Manifest[];
  readonly options: DemoOptions;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

async function run({ context, client, manifests, options, screen, signal }: Run): Promise<RunResult> {
  const applier = new Applier(client);
  const postgres = await startPostgres();
  const roles = new Roles();
  const queue = openQueue({ url: postgres.url, units: UNITS });
  try {
    for (const manifest of manifests) await applier.apply(manifest);
    await roles.startFluxion();
    await roles.startController(postgres.url, { ...roleSettings(roles), kubernetes: { context } });
    const usable = await usableNodes(client);
    const workloads = demoWorkloads(NAMESPACE, capacityOf(usable), options.jobs);
    const result = await runDemo({
      client,
      queue,
      namespace: NAMESPACE,
      workloads,
      nodes: usable,
      plans: () => shownPlans(client),
      screen,
      signal,
    });
    summarize(result, (line) => screen.print(line));
    if (options.keep) await untilShown({ client, namespace: NAMESPACE, signal }, result.finished);
    const kept = { namespace: NAMESPACE, plugin: PLUGIN_SCRIPT, context };
    printCommands(screen, 'To try next:', options.keep ? nextCommands(kept) : nextRuns());
    return result;
  } finally {
    await queue.close();
    await roles.stop();
    await postgres.stop();
    if (!options.keep) for (const manifest of [...manifests].reverse()) await applier.remove(manifest);
  }
}

/** Those of the FluxJobs: what other pods use is not known here. */
async function shownPlans(client: KubernetesClient): Promise<Plans> {
  const { items } = await client.list<FluxJobObject>(fluxJobs(NAMESPACE));
  return new Map(
    items.flatMap(({ spec, status }): [string, number][] =>
      status?.plannedStart === undefined ? [] : [[spec.workload.uid, Date.parse(status.plannedStart) / 1000]],
    ),
  );
}

async function usableNodes(client: KubernetesClient): Promise<readonly ShownNode[]> {
  const { items } = await client.list<Node>(nodes());
  return items
    .filter(({ spec }) => spec.unschedulable !== true && (spec.taints ?? []).length === 0)
    .map(({ metadata, status }) => ({
      name: metadata.name,
      cores: Math.floor(Number(status?.allocatable?.cpu ?? 0)),
    }));
}

/** Half of the smallest usable node, because other pods may run there. */
function capacityOf(usable: readonly ShownNode[]): Capacity {
  const cores = usable.map((node) => node.cores);
  return { nodes: usable.length, coresPerNode: Math.max(1, Math.floor(Math.min(...cores, 1e6) / 2)) };
}
