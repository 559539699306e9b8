/** The demo on a control plane of its own. */
import { once } from 'node:events';
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
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
  const say = (line: string) => out.write(`${line}\n`);
  say(`starting a control plane with ${options.nodes} simulated nodes, and Postgres`);
  const stack = await startStack({
    cluster: { nodes: options.nodes, nodeShape: { cpu: String(CORES), memory: '64Gi' } },
    config: { logLevel: 'warn' },
    progress: say,
    signal,
  });
  try {
    const result = await show(stack, options, signal, say);
    if (options.keep) await keep(stack, signal, say);
    return result;
  } finally {
    say('stopping the control plane');
    await stack.stop();
  }
}

async function show(
  stack: Stack,
  options: DemoOptions,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<RunResult> {
  say('stack applied (admission as policies); starting fluxion and controller');
  await stack.roles.startFluxion();
  await stack.startController({ fluxion: { address: stack.roles.fluxionAddress } });
  await stack.namespace(NAMESPACE);
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url });
  try {
    const workloads = demoWorkloads(NAMESPACE, { nodes: options.nodes, coresPerNode: CORES }, options.jobs);
    say(
      `submitting ${options.jobs} workloads and one that can never fit to namespace ${NAMESPACE} (label ${NAMESPACE_LABEL})`,
    );
    const out = options.json ? process.stderr : process.stdout;
    const recording = options.record === undefined ? undefined : new Recording();
    const table = new LiveTable(out, !options.json && out.isTTY, recording);
    const result = await runDemo({ client, queue, namespace: NAMESPACE, workloads, table, signal });
    if (options.record !== undefined) recording?.save(options.record);
    summarize(result, say);
    return result;
  } finally {
    client.close();
    await queue.close();
  }
}

async function keep(stack: Stack, signal: AbortSignal, say: (line: string) => void): Promise<void> {
  say(`\nstill running. In another terminal:\n  export KUBECONFIG=${stack.cluster.kubeconfig}`);
  say(`  ${stack.cluster.kubectlPath} get fj -n ${NAMESPACE}`);
  say(`  ${stack.cluster.kubectlPath} create -f examples/jobs/small.yaml\nCtrl-C ends it.`);
  // The servers are processes of their own: nothing else keeps this one alive.
  const alive = setInterval(() => undefined, 60_000);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(alive);
}
