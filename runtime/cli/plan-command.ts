/** The command `plan`, on the read API. */
import { type Command, InvalidArgumentError } from 'commander';
import { ask, plans } from '../kubernetes/read-api';
import type { Plan } from '../reader/kinds';
import { isObjectFormat, objectText, outputOption } from './output';
import { nameOf, type PlanOptions, planLines, planTable } from './plan-chart';
import { type Page, repeat } from './repeat';
import { inNamespace, type Scope, scoped, whereOf } from './with-client';

interface Options extends Scope {
  readonly allNamespaces: boolean;
  readonly hours?: number;
  readonly output: 'table' | 'wide' | 'name' | 'json' | 'yaml';
  readonly watch: boolean;
}

export function addPlanCommand(program: Command): void {
  scoped(program.command('plan'))
    .description('draw what runs, is reserved and is planned in the coming hours')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option(
      '--hours <number>',
      'hours of the chart (default: until the last planned end, at most 24)',
      hoursOf,
    )
    .addOption(outputOption(['table', 'wide', 'name', 'json', 'yaml']))
    .option('-w, --watch', 'ask again every 5 seconds, until Ctrl-C', false)
    .action(printPlan);
}

function hoursOf(text: string): number {
  const hours = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && hours > 0) return hours;
  throw new InvalidArgumentError('must be a number above 0.');
}

async function printPlan({ allNamespaces, hours, output, watch, ...scope }: Options): Promise<void> {
  await inNamespace(scope, (client, namespace) => {
    const options: PlanOptions = {
      where: whereOf(allNamespaces ? undefined : namespace),
      namespaces: allNamespaces,
      ...(hours !== undefined && { hours }),
    };
    return repeat(
      () =>
        ask<Plan>(client, {
          verb: 'list',
          path: plans(allNamespaces ? undefined : namespace),
          scope: allNamespaces ? 'all namespaces' : { namespace },
        }),
      (plan, page) => linesOf(plan, output, options, page),
      { watch, stream: output !== 'table' && output !== 'wide' },
    );
  });
}

function linesOf(plan: Plan, output: Options['output'], options: PlanOptions, page: Page): string[] {
  if (output === 'name') return plan.jobs.map(nameOf);
  if (isObjectFormat(output)) return [objectText(plan, output)];
  return output === 'wide' ? planTable(plan, options) : planLines(plan, options, page);
}
