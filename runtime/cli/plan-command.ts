/** The command `plan`, on the read API. */
import { type Command, InvalidArgumentError } from 'commander';
import { ask, plans } from '../kubernetes/read-api';
import type { Plan } from '../reader/kinds';
import { isObjectFormat, objectText, outputOption } from './output';
import { byStart, nameOf, type PlanOptions, planLines, planTable } from './plan-chart';
import { type Page, repeat } from './repeat';
import { emptySentence } from './unknown-workload';
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

/** Of a queue in which something waits behind the plan. */
const NOTHING_PLANNED = 'nothing runs, and no start is planned';

function hoursOf(text: string): number {
  const hours = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && hours > 0) return hours;
  throw new InvalidArgumentError('must be a number of hours above 0, such as 6 or 1.5.');
}

async function printPlan({ allNamespaces, hours, output, watch, ...scope }: Options): Promise<void> {
  await inNamespace(scope, (client, namespace) => {
    const asked = allNamespaces ? undefined : namespace;
    const options: Omit<PlanOptions, 'empty'> = {
      where: whereOf(asked),
      namespaces: allNamespaces,
      ...(hours !== undefined && { hours }),
    };
    return repeat(
      async () => {
        const plan = await ask<Plan>(client, {
          verb: 'list',
          path: plans(asked),
          scope: allNamespaces ? 'all namespaces' : { namespace },
        });
        const isEmpty = plan.jobs.length + plan.unplanned + (plan.blocked ?? 0) === 0;
        return { plan, empty: isEmpty ? await emptySentence(client, asked) : NOTHING_PLANNED };
      },
      ({ plan, empty }, page) => linesOf(plan, output, { ...options, empty }, page),
      { watch, stream: output !== 'table' && output !== 'wide' },
    );
  });
}

function linesOf(plan: Plan, output: Options['output'], options: PlanOptions, page: Page): string[] {
  if (output === 'name') return plan.jobs.toSorted(byStart).map(nameOf);
  if (isObjectFormat(output)) return [objectText(plan, output)];
  return output === 'wide' ? planTable(plan, options) : planLines(plan, options, page);
}
