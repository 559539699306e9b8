/** The subcommands `history` and `accounting`: answers from the queue's tables, whichever replica leads. */
import type { Command } from 'commander';
import { databaseUrl, loadConfig } from '../config';
import { ACCOUNTING_KEYS } from '../queue/accounting';
import { openQueue } from '../queue/queue';
import type { Queue } from '../queue/store';
import {
  type AccountingArguments,
  accountingLines,
  accountingQuery,
  historyLines,
  startOfMonth,
  workloadName,
} from './report';

interface Options {
  readonly config?: string;
}

export function addQueueCommands(program: Command): void {
  program
    .command('history')
    .description('what happened to a workload: when, what, by whom, why; also long after it has finished')
    .argument('<workload>', 'namespace/name')
    .option('--config <file>', 'YAML configuration')
    .action(printHistory);

  program
    .command('accounting')
    .description('jobs, and hours of cores, memory and gpus that were held')
    .option('--from <time>', 'ISO date or time', startOfMonth())
    .option('--until <time>', 'ISO date or time', new Date().toISOString())
    .option('--by <keys>', `one or more of ${ACCOUNTING_KEYS.join(',')}`, 'queue,user')
    .option('--json', 'as JSON')
    .option('--config <file>', 'YAML configuration')
    .action(printAccounting);
}

function printHistory(workload: string, { config }: Options): Promise<void> {
  return ask(config, async (queue) => {
    const { namespace, name } = workloadName(workload);
    const lines = historyLines(await queue.historyOf(namespace, name));
    return lines.length > 0 ? lines : [`no workload of this name was ever queued: ${workload}`];
  });
}

function printAccounting(options: AccountingArguments & Options & { json?: boolean }): Promise<void> {
  const { config, json, ...period } = options;
  return ask(config, async (queue) => {
    const lines = await queue.accounting(accountingQuery(period));
    return json ? [JSON.stringify(lines)] : accountingLines(lines);
  });
}

async function ask(file: string | undefined, question: (queue: Queue) => Promise<string[]>): Promise<void> {
  const queue = openQueue({ url: databaseUrl(loadConfig(file)) });
  try {
    for (const line of await question(queue)) process.stdout.write(`${line}\n`);
  } finally {
    await queue.close();
  }
}
