/**
 * `npm run -s poison -- --json`: objects at every limit of the API go through the whole system while another namespace has
 * a Job released every second. Progress and problems go to stderr. Fails if an accepted object is not explained, a release
 * takes too long, the leader changes, or the controller takes too much memory.
 */
import { copyFileSync } from 'node:fs';
import { Command } from 'commander';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { print } from '../bench/jobs';
import { startStack } from '../stack/stack';
import { CORPUS } from './corpus';
import { type PoisonFigures, type PoisonResult, runPoison } from './run';

const options = new Command('poison')
  .option('--nodes <n>', 'simulated nodes of 64 cores', Number, 100)
  .option('--seconds <n>', 'seconds of canaries after the last object', Number, 120)
  .option('--writers <n>', 'who submit the corpus at once; kubectl apply is one', Number, 1)
  .option('--only <pattern>', 'only objects whose title matches', '')
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ nodes: number; seconds: number; writers: number; only: string; json: boolean }>();

const GOAL = { canaryP99Ms: 2_000, restarts: 0, peakRssMiB: 600 };
const LABELS = { zone: 'a', size: '64' };

async function main(): Promise<boolean> {
  const corpus = CORPUS.filter(({ title }) => new RegExp(options.only).test(title));
  const stack = await startStack({
    cluster: { nodes: options.nodes, nodeShape: { cpu: '64', memory: '256Gi', labels: LABELS } },
    config: { logLevel: 'info' },
    progress: print,
  });
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  try {
    const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
    await queue.migrate();
    await queue.close();
    const controller = await stack.startController();
    const result = await runPoison({
      stack,
      client,
      controller,
      corpus,
      writers: options.writers,
      seconds: options.seconds,
      progress: print,
    });
    report(result, controller.process.logFile);
    return isGood(result.figures);
  } finally {
    client.close();
    await stack.stop();
  }
}

function report({ figures, submitted }: PoisonResult, logFile: string): void {
  if (!options.json)
    for (const { title, status, sentence } of submitted.refused)
      print(`refused ${title}: ${status} ${sentence.slice(0, 200)}`);
  for (const line of figures.unexplained) print(`not explained: ${line}`);
  if (process.env.POISON_LOG !== undefined) copyFileSync(logFile, process.env.POISON_LOG);
  process.stdout.write(`${JSON.stringify({ ...figures, unexplained: figures.unexplained.length })}\n`);
}

function isGood({ canaryP99Ms, restarts, peakRssMiB, unexplained }: PoisonFigures): boolean {
  return (
    canaryP99Ms < GOAL.canaryP99Ms &&
    restarts === GOAL.restarts &&
    peakRssMiB < GOAL.peakRssMiB &&
    unexplained.length === 0
  );
}

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    print(String(error));
    process.exit(1);
  },
);
