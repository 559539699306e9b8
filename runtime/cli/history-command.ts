/** The command `history`, on the read API. */
import type { Command } from 'commander';
import { FluxqError } from '../errors';
import { histories } from '../kubernetes/read-api';
import { isStatus } from '../kubernetes/errors';
import type { History } from '../reader/kinds';
import { historyLines } from './history-table';
import { isObjectFormat, objectText, outputOption, printLines } from './output';
import { ask } from './read-api';
import { inNamespace, type Scope, scoped } from './with-client';
import { type MeantWorkload, parseAnyWorkload } from './workload-names';

interface Options extends Scope {
  readonly output: 'table' | 'wide' | 'json' | 'yaml';
}

export function addHistoryCommand(program: Command): void {
  scoped(program.command('history'))
    .description('print what happened to a workload, when, by whom and why, also long after it has ended')
    .argument('<workload>', 'name, job/name or pod/name; or namespace/name')
    .addOption(outputOption(['table', 'wide', 'json', 'yaml']))
    .action(printHistory);
}

async function printHistory(text: string, { output, ...scope }: Options): Promise<void> {
  const { namespace, ...meant } = parseAnyWorkload(text);
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
    const history = await historyOf(
      ask<History>(client, {
        verb: 'get',
        path: histories(where, meant.name),
        scope: { namespace: where },
      }),
      meant,
    );
    if (history === undefined || history.entries.length === 0) throw unknown(text, where);
    printLines(
      isObjectFormat(output)
        ? [objectText(history, output)]
        : historyLines(history.entries, { wide: output === 'wide' }),
    );
  });
}

/** With the entries of the kinds that are meant; undefined if nothing had this name. */
async function historyOf(asked: Promise<History>, { kinds }: MeantWorkload): Promise<History | undefined> {
  try {
    const history = await asked;
    const isMeant = new Set(kinds.map(({ kind }) => kind));
    return { ...history, entries: history.entries.filter(({ kind }) => isMeant.has(kind)) };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

function unknown(text: string, namespace: string): FluxqError {
  return new FluxqError(
    'FLUXQ_WORKLOAD_UNKNOWN',
    `nothing of this name was ever in the queue of namespace ${namespace}`,
    {
      field: 'workload',
      value: text,
      remedy: 'see that name and namespace are right; histories are kept for a year (queue.archiveDays)',
    },
  );
}
