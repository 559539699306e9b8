/** The commands `history`, `accounting` and `trace` read the queue's tables. They need no leader. */
import type { Command } from 'commander';
import { databaseSource, loadConfig } from '../config';
import { readDatabaseAccess } from '../kubernetes/secrets';
import { ACCOUNTING_KEYS } from '../queue/accounting';
import { openQueue } from '../queue/queue';
import type { Queue } from '../queue/store';
import {
  type AccountingArguments,
  accountingLines,
  accountingQuery,
  historyLines,
  periodOf,
  startOfMonth,
  workloadName,
} from './report';
import { swfLines } from './trace';
import { withClient } from './with-client';

interface Options {
  readonly config?: string;
}

export function addQueueCommands(program: Command): void {
  program
    .command('history')
    .description('print the events of a workload with time, user and cause, also long after it has finished')
    .argument('<workload>', 'namespace/name')
    .option('--config <file>', 'YAML configuration')
    .action(printHistory);

  program
    .command('accounting')
    .description('print the number of jobs and the allocated hours of cores, memory and GPUs')
    .option('--from <time>', 'ISO date or time', startOfMonth())
    .option('--until <time>', 'ISO date or time', new Date().toISOString())
    .option('--by <keys>', `one or more of ${ACCOUNTING_KEYS.join(',')}`, 'queue,user')
    .option('--json', 'as JSON')
    .option('--config <file>', 'YAML configuration')
    .action(printAccounting);

  program
    .command('trace')
    .description('print what started and ended as a trace in Standard Workload Format, for simulations')
    .option('--from <time>', 'ISO date or time', startOfMonth())
    .option('--until <time>', 'ISO date or time', new Date().toISOString())
    .option('--config <file>', 'YAML configuration')
    .action(printTrace);
}

function printTrace({ config, ...period }: Options & { from: string; until: string }): Promise<void> {
  return printLines(config, async (queue) => swfLines(await queue.traced(periodOf(period))));
}

function printHistory(workload: string, { config }: Options): Promise<void> {
  return printLines(config, async (queue) => {
    const { namespace, name } = workloadName(workload);
    const lines = historyLines(await queue.historyOf(namespace, name));
    return lines.length > 0 ? lines : [`no workload of this name was ever queued: ${workload}`];
  });
}

function printAccounting(options: AccountingArguments & Options & { json?: boolean }): Promise<void> {
  const { config, json, ...period } = options;
  return printLines(config, async (queue) => {
    const lines = await queue.accounting(accountingQuery(period));
    return json ? [JSON.stringify(lines)] : accountingLines(lines);
  });
}

async function printLines(
  file: string | undefined,
  read: (queue: Queue) => Promise<Iterable<string>>,
): Promise<void> {
  const config = loadConfig(file);
  const { kubeconfig, context } = config.kubernetes;
  const access = {
    ...(kubeconfig && { kubeconfig }),
    ...(context && { context }),
    userAgent: 'fluxqueue-cli',
  };
  const source = databaseSource(config);
  const database =
    'url' in source ? source : await withClient(access, (client) => readDatabaseAccess(client, source));
  const queue = openQueue({ ...database, units: config.units });
  try {
    for (const line of await read(queue)) process.stdout.write(`${line}\n`);
  } finally {
    await queue.close();
  }
}
