/** Parses the arguments of `history` and `accounting`, and formats their results as lines of text. */

import { columns } from '../columns';
import { FluxqError } from '../errors';
import { ACCOUNTING_KEYS, type AccountingLine, type AccountingQuery } from '../queue/accounting';
import type { NamedLogEntry } from '../queue/history';
import * as period from '../queue/period';
import type { TracePeriod } from '../queue/trace';
import type { WorkloadName } from '../queue/workload';

export { startOfMonth } from '../queue/period';

/** The options of the command line. */
export type AccountingArguments = period.AccountingTexts;

const OPTIONS: period.TextSource = { code: 'FLUXQ_CONFIG_INVALID', field: (name) => `--${name}` };

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function accountingQuery(options: AccountingArguments): AccountingQuery {
  return period.accountingQuery(options, OPTIONS);
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function periodOf(options: period.PeriodTexts): TracePeriod {
  return period.periodOf(options, OPTIONS);
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function workloadName(text: string): WorkloadName {
  const [namespace, name, ...more] = text.split('/');
  if (namespace && name && more.length === 0) return { namespace, name };
  throw new FluxqError('FLUXQ_CONFIG_INVALID', 'is not the name of a workload', {
    field: 'workload',
    value: text,
    remedy: 'write namespace/name',
  });
}

/** One line for each entry. Lines name kind and uid if several workloads had the name. */
export function historyLines(entries: readonly NamedLogEntry[]): string[] {
  const severalKinds = new Set(entries.map(({ uid }) => uid)).size > 1;
  return entries.map(({ at, kind, uid, actor, event, why }) =>
    [timeOf(at), ...(severalKinds ? [`${kind} ${uid}`] : []), event, `by ${actor || 'unknown'}`, why]
      .filter((part) => part !== '')
      .join('  '),
  );
}

/** A table with a header: the keys, then jobs and hours. */
export function accountingLines(lines: readonly AccountingLine[]): string[] {
  const keys = ACCOUNTING_KEYS.filter((key) => lines[0]?.[key] !== undefined);
  const table = lines.map((line) => [
    ...keys.map((key) => line[key] ?? ''),
    `${line.jobs}`,
    `${line.pods}`,
    ...[line.cpuHours, line.memoryGiBHours, line.gpuHours].map((hours) => hours.toFixed(2)),
  ]);
  const head = [...keys, 'jobs', 'pods', 'cpu-hours', 'GiB-hours', 'gpu-hours'].map((word) =>
    word.toUpperCase(),
  );
  return columns([head, ...table]);
}

function timeOf(at: number): string {
  return new Date(at * 1000).toISOString();
}
