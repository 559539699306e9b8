/** The command `trace`, on the read API. */
import type { Command } from 'commander';
import { ask, traces } from '../kubernetes/read-api';
import type { Trace } from '../reader/kinds';
import { type PeriodOptions, periodOf, withPeriod } from './period-options';
import { inCluster, type Scope } from './with-client';

export function addTraceCommand(program: Command): void {
  withPeriod(
    program
      .command('trace')
      .description('print what started and ended as a trace in Standard Workload Format, for simulations'),
  )
    .option('--context <name>', 'context of the kubeconfig')
    .action(printTrace);
}

async function printTrace(options: PeriodOptions & Pick<Scope, 'context'>): Promise<void> {
  const query = periodOf(options);
  await inCluster(options, async (client) => {
    const { swf } = await ask<Trace>(client, {
      verb: 'list',
      path: traces(),
      scope: 'the whole cluster',
      query,
    });
    process.stdout.write(swf);
  });
}
