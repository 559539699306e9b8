/** The command `history`, on the read API. */
import type { Command } from 'commander';
import { FluxqError } from '../errors';
import { ask, histories } from '../kubernetes/read-api';
import type { History } from '../reader/kinds';
import { historyLines } from './history-table';
import { isObjectFormat, objectText, outputOption, printLines } from './output';
import { inNamespace, type Scope, scoped } from './with-client';
import {
  kindForms,
  type MeantWorkload,
  parseAnyWorkload,
  parseWorkload,
  workloadText,
} from './workload-names';

interface Options extends Scope {
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
}

export function addHistoryCommand(program: Command): void {
  scoped(program.command('history'))
    .description('print what happened to a workload, when, by whom and why, also long after it has ended')
    .argument(
      '<workload>',
      `name, job/name, pod/name, ${kindForms('name')}, mc/name or fj/name; or namespace/name`,
    )
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action(printHistory);
}

async function printHistory(text: string, { output, ...scope }: Options): Promise<void> {
  const { namespace, ...written } = parseAnyWorkload(text);
  if (namespace !== undefined && scope.namespace !== undefined && namespace !== scope.namespace)
    throw new FluxqError(
      'FLUXQ_WORKLOAD_NAME',
      `names another namespace than --namespace ${scope.namespace}`,
      {
        field: 'workload',
        value: text,
        remedy: 'leave one of them out',
      },
    );
  await inNamespace({ ...scope, ...(namespace !== undefined && { namespace }) }, async (client, where) => {
    const meant = written.isRecord ? parseWorkload(await workloadText(client, where, text)) : written;
    const all = await ask<History>(client, {
      verb: 'get',
      path: histories(where, meant.name),
      scope: { namespace: where },
    });
    const history = { ...all, entries: all.entries.filter(({ kind }) => isKind(meant, kind)) };
    if (history.entries.length === 0) throw neverQueued(text, where);
    printLines(
      isObjectFormat(output)
        ? [objectText(history, output)]
        : historyLines(history.entries, { wide: output === 'wide' }),
    );
  });
}

function isKind({ kinds }: MeantWorkload, kind: string): boolean {
  return kinds.some((meant) => meant.kind === kind);
}

function neverQueued(text: string, namespace: string): FluxqError {
  return new FluxqError(
    'FLUXQ_WORKLOAD_UNKNOWN',
    `nothing of this kind and name was ever queued in namespace ${namespace}`,
    { field: 'workload', value: text, remedy: 'leave out the kind, which shows what else had this name' },
  );
}
