/** The demo on a local control plane. */
import { once } from 'node:events';
import { join } from 'node:path';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { controlPlaneBuilt, findAssets } from '../../test/cluster/assets';
import { type Stack, startStack } from '../../test/stack/stack';
import { withDashboard } from './dashboard';
import { showWhileBuilding } from './first-picture';
import { installPlugin, nextCommands, nextRuns, printCommands } from './next-commands';
import type { DemoOptions } from './options';
import { plansOf } from './plans';
import { type RunResult, runDemo, summarize, untilShown } from './run';
import type { Screen } from './screen';
import { roleSettings, UNITS } from './settings';
import { repeatLive } from './simulate';
import { CORES, graphOf } from './simulation';
import { DURATION, demoWorkloads, exampleFile } from './workloads';

const NAMESPACE = 'demo';
/** Of the manifests in examples/jobs, which users apply themselves. */
export const USERS_NAMESPACE = 'science';

export async function runLocally(
  options: DemoOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<RunResult> {
  if (!controlPlaneBuilt()) await build(options, screen, signal);
  return withLocalStack(options.nodes, screen, signal, async (stack) => {
    const result = await show(stack, options, screen, signal);
    const commands = nextCommands({ namespace: NAMESPACE, plugin: 'kubectl fluxqueue' });
    if (options.keep) await keep(stack, commands, screen, signal);
    else printCommands(screen, 'To try next:', nextRuns());
    return result;
  });
}

/** Starts everything, does the work while the dashboard is served, and stops everything. */
export async function withLocalStack<T>(
  nodes: number,
  screen: Screen,
  signal: AbortSignal,
  work: (stack: Stack) => Promise<T>,
): Promise<T> {
  screen.print(`starting a control plane with ${nodes} simulated nodes, and Postgres`);
  const stack = await startStack({
    cluster: { nodes, nodeShape: { cpu: String(CORES), memory: '64Gi' }, signal },
    readApi: true,
    progress: (line) => screen.progress(line),
    signal,
  });
  try {
    return await withDashboard(stack.cluster.kubeconfig, screen, async () => {
      screen.print('stack applied (admission by policies); starting fluxion, controller and reader');
      await stack.roles.startFluxion();
      signal.throwIfAborted();
      const settings = roleSettings(stack.roles);
      await Promise.all([stack.startController(settings), stack.startReader(settings)]);
      await stack.namespace(USERS_NAMESPACE);
      return work(stack);
    });
  } finally {
    screen.print('stopping the control plane');
    await stack.stop();
  }
}

async function build(options: DemoOptions, screen: Screen, signal: AbortSignal): Promise<void> {
  await showWhileBuilding({
    build: (progress, ended) => findAssets({ progress, signal: ended }),
    show: (live) => repeatLive(options, { ...live, screen }),
    signal,
  });
  screen.clear();
  screen.print('the control plane is built: the real demo begins');
}

async function show(
  stack: Stack,
  options: DemoOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<RunResult> {
  await stack.namespace(NAMESPACE);
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: UNITS });
  try {
    const workloads = demoWorkloads(NAMESPACE, { nodes: options.nodes, coresPerNode: CORES }, options.jobs);
    screen.print(`submitting ${options.jobs} workloads and an unsatisfiable one to namespace ${NAMESPACE}`);
    const graph = graphOf(options.nodes);
    const result = await runDemo({
      client,
      queue,
      namespace: NAMESPACE,
      workloads,
      nodes: graph.map(({ name }) => ({ name, cores: CORES })),
      plans: (rows, now) => plansOf(rows, graph, now),
      screen,
      signal,
    });
    summarize(result, (line) => screen.print(line));
    if (options.keep) await untilShown({ client, namespace: NAMESPACE, signal }, result.finished);
    return result;
  } finally {
    client.close();
    await queue.close();
  }
}

/** Prints how to use it, and resolves at the signal. */
export async function keep(
  stack: Stack,
  commands: readonly string[],
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, kubectlPath, directory } = stack.cluster;
  const programs = join(directory, 'bin');
  installPlugin(programs, kubectlPath);
  printCommands(screen, 'Still running; Ctrl-C ends it. To try next, in another terminal:', [
    `export KUBECONFIG=${kubeconfig} PATH=${programs}:$PATH`,
    ...commands,
  ]);
  screen.print(`Your own jobs: kubectl create -f ${exampleFile('small')} (namespace ${USERS_NAMESPACE})`);
  screen.print(
    `Nodes are simulated: pods of Jobs run for 1 s, or as long as the annotation ${DURATION} of their template says (20s); plain Pods run until they are deleted.`,
  );
  stack.roles.restart((sentence) => screen.print(sentence));
  // The servers are separate processes, so only this timer keeps the process alive.
  const alive = setInterval(() => undefined, 60_000);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(alive);
}
