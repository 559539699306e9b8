/** Parses the arguments of `history` and `accounting`, and formats their results as lines of text. */

import { columns } from '../columns';
import { FluxqError } from '../errors';
import { ACCOUNTING_KEYS, type AccountingLine, type AccountingQuery } from '../queue/accounting';
import type { NamedLogEntry } from '../queue/history';
import type { TracePeriod } from '../queue/trace';
import type { WorkloadName } from '../queue/workload';

/** The options of the command line. */
export interface AccountingArguments {
  /** ISO 8601. */
  readonly from: string;
  readonly until: string;
  /** Keys separated by commas. Without keys the result is one line. */
  readonly by: string;
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function accountingQuery({ from, until, by }: AccountingArguments): AccountingQuery {
  const keys = by.split(',').filter((key) => key !== '');
  const unknown = keys.find((key) => !ACCOUNTING_KEYS.some((known) => known === key));
  if (unknown !== undefined)
    throw invalid(
      '--by',
      'is not a known key',
      unknown,
      `give one or more of: ${ACCOUNTING_KEYS.join(', ')}`,
    );
  return { ...periodOf({ from, until }), by: ACCOUNTING_KEYS.filter((key) => keys.includes(key)) };
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function periodOf({ from, until }: Pick<AccountingArguments, 'from' | 'until'>): TracePeriod {
  return { from: secondsOf('--from', from), until: secondsOf('--until', until) };
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function workloadName(text: string): WorkloadName {
  const [namespace, name, ...more] = text.split('/');
  if (namespace && name && more.length === 0) return { namespace, name };
  throw invalid('workload', 'is not the name of a workload', text, 'write namespace/name');
}

/** The start of the current month in UTC, in ISO 8601. */
export function startOfMonth(now = new Date()): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
}

function secondsOf(field: string, text: string): number {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw invalid(field, 'is not a date', text, 'write 2026-11-01 or 2026-11-01T12:00:00Z');
  return milliseconds / 1000;
}

function invalid(field: string, what: string, value: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_CONFIG_INVALID', what, { field, value, remedy });
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
