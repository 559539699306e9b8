/**
 * `npm run -s kinds -- --json`: plays the table of workload kinds (./table.ts) with the controller of each kind on a real control
 * plane. The last line is JSON: all figures but the first two are 0 if all is well. The exit code is 1 if one is not, or if a
 * gang did not finish. Without Go it says so and plays the kinds whose controllers are there.
 */
import { Command } from 'commander';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { messageOf } from '../../runtime/errors';
import { exitWhenWritten } from '../../runtime/exit';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { startStack } from '../stack/stack';
import { runnableKinds, startControllers } from './controllers';
import { isWell, type KindFigures, playKinds, TABLE_CLUSTER } from './table';

const options = new Command('kinds')
  .option('--json', 'print only one line of JSON on stdout', false)
  .option('--only <text>', 'play only kinds whose name contains this text', '')
  .parse()
  .opts<{ json: boolean; only: string }>();

const print = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const kinds = runnableKinds(WORKLOAD_KINDS.filter(({ kind }) => kind.includes(options.only)));
  if (kinds.length === 0) return 0;
  const stack = await startStack({
    cluster: TABLE_CLUSTER,
    createsMiniClusters: false,
    config: { logLevel: 'warn' },
    progress: print,
  });
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url, units: DEFAULT_UNITS });
  let controllers: { stop(): Promise<void> } | undefined;
  try {
    await queue.migrate();
    controllers = await startControllers(stack.cluster, kinds);
    await stack.startController({ fluxion: { address: 'embedded' } });
    const figures = await playKinds({ stack, client, queue }, kinds, print);
    process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : summaryOf(figures));
    return isWell(figures) ? 0 : 1;
  } finally {
    await controllers?.stop();
    client.close();
    await queue.close();
    await stack.stop();
  }
}

function summaryOf({ kinds, finished, ...wrong }: KindFigures): string {
  const found = Object.entries(wrong).map(([key, count]) => `${count} ${key}`);
  return `${kinds} kinds, ${finished} gangs finished, ${found.join(', ')}\n`;
}

main().then(exitWhenWritten, (error: unknown) => {
  print(messageOf(error));
  return exitWhenWritten(1);
});
