/**
 * `fluxqueue doctor` looks at a stack through the apiserver alone. A *check* has a name and reads; a *finding* is one
 * sentence about what it saw, and one about what to do.
 */
import type { ClusterReader } from './cluster-reader';

/** `unknown`: the user of the command may not read what the check needs, or the apiserver does not have it. */
export type Level = 'ok' | 'warning' | 'error' | 'unknown';

export interface Finding {
  readonly level: Level;
  readonly message: string;
  /** What to do about it. @default - the finding is ok */
  readonly remedy?: string;
}

export interface Context {
  readonly reader: ClusterReader;
  /** Namespace of the stack. */
  readonly namespace: string;
  /** Version of this program. */
  readonly version: string;
  /** Milliseconds. */
  readonly now: number;
}

export interface Check {
  readonly name: string;
  /** @throws ApiError 403 where its user has no right to read */
  readonly run: (context: Context) => Promise<readonly Finding[]>;
}

export const ok = (message: string): Finding => ({ level: 'ok', message });
export const warning = (message: string, remedy: string): Finding => ({ level: 'warning', message, remedy });
export const error = (message: string, remedy: string): Finding => ({ level: 'error', message, remedy });
export const unknown = (message: string, remedy: string): Finding => ({ level: 'unknown', message, remedy });

const MOST_NAMES = 3;

/** The first names, and how many more there are. */
export function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** `1 Job`, `3 Jobs`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Seconds since an RFC 3339 time; 0 without one. */
export function secondsSince(time: string | undefined, now: number): number {
  const since = Date.parse(time ?? '');
  return Number.isNaN(since) ? 0 : Math.max(0, Math.floor((now - since) / 1000));
}

/** `45 s`, `12 min`, `5 h`, `3 days`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
