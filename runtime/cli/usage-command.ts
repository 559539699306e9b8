/** The command `usage`, on the read API. */
import type { Command } from 'commander';
import { ask, usages } from '../kubernetes/read-api';
import type { Usage } from '../reader/kinds';
import { isObjectFormat, objectText, outputOption, printLines } from './output';
import { type PeriodOptions, periodOf, withPeriod } from './period-options';
import { TOP_KEYS, type TopKey } from './top';
import { keysOf } from './top-command';
import { usageLines } from './usage-table';
import { inNamespace, type Scope, scoped, whereOf } from './with-client';

interface Options extends Scope, PeriodOptions {
  readonly allNamespaces: boolean;
  readonly by: readonly TopKey[];
  readonly output: 'table' | 'json' | 'yaml';
}

export function addUsageCommand(program: Command): void {
  withPeriod(
    scoped(program.command('usage'))
      .description('print the allocated hours of cores, memory and GPUs in a period, and fair shares')
      .option('-A, --all-namespaces', 'of all namespaces', false),
  )
    .option('--by <keys>', `one or more of ${TOP_KEYS.join(',')}`, keysOf, ['queue', 'user'] as const)
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action(printUsage);
}

async function printUsage({ allNamespaces, by, output, ...options }: Options): Promise<void> {
  const period = periodOf(options);
  await inNamespace(options, async (client, namespace) => {
    const usage = await ask<Usage>(client, {
      verb: 'list',
      path: usages(allNamespaces ? undefined : namespace),
      scope: allNamespaces ? 'all namespaces' : { namespace },
      query: { ...period, by: by.join(',') },
    });
    const where = whereOf(allNamespaces ? undefined : namespace);
    printLines(isObjectFormat(output) ? [objectText(usage, output)] : usageLines(usage, where, by));
  });
}
