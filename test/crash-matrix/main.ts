/**
 * `npm run -s crash-matrix -- --json`: kills the controller and resets its connections after every database statement,
 * patch and RPC, after every request of its election, and after what it does about faults of nodes, and checks the
 * invariants I1 to I6 (test/invariants). The last line is JSON.
 */
import { Command } from 'commander';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { startStack } from '../stack/stack';
import { allFaultPoints, nameOf } from './fault-points';
import { playMatrix } from './matrix';
import { SIZE } from './scenario';

const options = new Command('crash-matrix')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option(
    '--only <text>',
    'run only fault points whose name contains this text, e.g. "queue.allocate, kill"',
    '',
  )
  .parse()
  .opts<{ json: boolean; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const stack = await startStack({
    cluster: { nodes: SIZE, nodeShape: { cpu: String(SIZE), memory: '64Gi' } },
    progress: print,
  });
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  try {
    await queue.migrate();
    const points = allFaultPoints().filter((point) => nameOf(point).includes(options.only));
    const result = await playMatrix({ stack, client, queue }, points, print);
    for (const { invariant, text, point } of result.violations)
      print(`${invariant}: ${text}${point === undefined ? '' : ` (${nameOf(point)})`}`);
    for (const point of result.missed) print(`never called: ${nameOf(point)}`);
    const figures = { points: result.points, runs: result.runs, violations: result.violations.length };
    const summary = `${figures.points} points, ${figures.runs} runs, ${figures.violations} violations`;
    process.stdout.write(`${options.json ? JSON.stringify(figures) : summary}\n`);
    if (result.violations.length > 0 || result.missed.length > 0) process.exitCode = 1;
  } finally {
    client.close();
    await queue.close();
    await stack.stop();
  }
}

void main();
