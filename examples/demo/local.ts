/** The demo on a local control plane. */
import { once } from 'node:events';
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { type Stack, startStack } from '../../test/stack/stack';
import type { DemoOptions } from './options';
import { Recording } from './recording';
import { type RunResult, runDemo, summarize } from './run';
import { LiveTable } from './table';
import { demoWorkloads } from './workloads';

const NAMESPACE = 'science';
const CORES = 16;

export async function runLocally(options: DemoOptions, signal: AbortSignal): Promise<RunResult> {
  const out = options.json ? process.stderr : process.stdout;
  const print = (line: string) => out.write(`${line}\n`);
  print(`starting a control plane with ${options.nodes} simulated nodes, and Postgres`);
  const stack = await startStack({
    cluster: { nodes: options.nodes, nodeShape: { cpu: String(CORES), memory: '64Gi' } },
    config: { logLevel: 'warn' },
    progress: print,
    signal,
  });
  try {
    const result = await show(stack, options, signal, print);
    if (options.keep) await keep(stack, signal, print);
    return result;
  } finally {
    print('stopping the control plane');
    await stack.stop();
  }
}

async function show(
  stack: Stack,
  options: DemoOptions,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<RunResult> {
  print('stack applied (admission by policies); starting fluxion and controller');
  await stack.roles.startFluxion();
  await stack.startController({ fluxion: { address: stack.roles.fluxionAddress } });
  await stack.namespace(NAMESPACE);
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  try {
    const workloads = demoWorkloads(NAMESPACE, { nodes: options.nodes, coresPerNode: CORES }, options.jobs);
    print(
      `submitting ${options.jobs} workloads and an unsatisfiable one to namespace ${NAMESPACE} (label ${NAMESPACE_LABEL})`,
    );
    const out = options.json ? process.stderr : process.stdout;
    const recording = options.record === undefined ? undefined : new Recording();
    const table = new LiveTable(out, !options.json && out.isTTY, recording);
    const result = await runDemo({ client, queue, namespace: NAMESPACE, workloads, table, signal });
    if (options.record !== undefined) recording?.save(options.record);
    summarize(result, print);
    return result;
  } finally {
    client.close();
    await queue.close();
  }
}

async function keep(stack: Stack, signal: AbortSignal, print: (line: string) => void): Promise<void> {
  print(`\nstill running. In another terminal:\n  export KUBECONFIG=${stack.cluster.kubeconfig}`);
  print(`  ${stack.cluster.kubectlPath} get fj -n ${NAMESPACE}`);
  print(`  ${stack.cluster.kubectlPath} create -f examples/jobs/small.yaml\nCtrl-C ends it.`);
  // The servers are separate processes, so only this timer keeps the process alive.
  const alive = setInterval(() => undefined, 60_000);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(alive);
}
