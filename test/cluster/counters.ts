/** Counts requests to the apiserver: by resource from its metrics, by user from its audit log. */

import { readFileSync } from 'node:fs';
import { FluxqError } from '../../runtime/errors';

export interface RequestCount {
  /** GET, LIST, WATCH, POST, PUT, PATCH, APPLY, DELETE, DELETECOLLECTION or CONNECT. */
  readonly verb: string;
  /** API group, empty for the core group. */
  readonly group: string;
  /** Plural name, for example jobs. */
  readonly resource: string;
  /** For example status; empty for the object itself. */
  readonly subresource: string;
  readonly code: string;
  readonly count: number;
}

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']);

/** Requests of all clients since the start of the apiserver. */
export class RequestCounters {
  constructor(readonly entries: readonly RequestCount[]) {}

  /** Number of requests that match all given fields. */
  count(match: Partial<Omit<RequestCount, 'count'>> = {}): number {
    const fields = Object.entries(match) as [keyof RequestCount, string][];
    return this.sum((entry) => fields.every(([field, value]) => entry[field] === value));
  }

  /** Number of writing requests, for all resources or for one. */
  writes(resource?: string): number {
    return this.sum((e) => WRITES.has(e.verb) && (resource === undefined || e.resource === resource));
  }

  /** The requests between two readings of the same apiserver process. */
  since(earlier: RequestCounters): RequestCounters {
    const before = new Map(earlier.entries.map((entry) => [keyOf(entry), entry.count]));
    const entries = this.entries
      .map((entry) => ({ ...entry, count: entry.count - (before.get(keyOf(entry)) ?? 0) }))
      .filter(({ count }) => count > 0);
    return new RequestCounters(entries);
  }

  private sum(matches: (entry: RequestCount) => boolean): number {
    return this.entries.filter(matches).reduce((total, { count }) => total + count, 0);
  }
}

const keyOf = ({ count: _, ...labels }: RequestCount): string => JSON.stringify(labels);

/** Reads `apiserver_request_total` from the text of /metrics. */
export function parseRequestCounters(metrics: string): RequestCounters {
  const merged = new Map<string, RequestCount>();
  for (const [, labels = '', value] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const of = (label: string) => labels.match(new RegExp(`(?:^|,)${label}="([^"]*)"`))?.[1] ?? '';
    const entry = {
      verb: of('verb'),
      group: of('group'),
      resource: of('resource'),
      subresource: of('subresource'),
      code: of('code'),
      count: Number(value),
    };
    // Sums over the remaining labels: scope, version and dry_run.
    const key = keyOf(entry);
    merged.set(key, { ...entry, count: entry.count + (merged.get(key)?.count ?? 0) });
  }
  return new RequestCounters([...merged.values()]);
}

export interface AuditedWrite {
  /** User name, for example system:serviceaccount:NAMESPACE:NAME. */
  readonly user: string;
  /** create, update, patch, delete or deletecollection. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** HTTP status of the answer. */
  readonly code: number;
}

interface AuditEvent {
  verb: string;
  user: { username: string };
  objectRef?: {
    apiGroup?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code?: number };
}

/** The writes in an audit log, oldest first. @throws FLUXQ_TEST_NO_AUDIT without one */
export function readAuditedWrites(file: string | undefined): AuditedWrite[] {
  if (file === undefined)
    throw new FluxqError('FLUXQ_TEST_NO_AUDIT', 'the cluster has no audit log', {
      field: 'auditLog',
      remedy: 'start the cluster with auditLog: true',
    });
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const { verb, user, objectRef = {}, responseStatus } = JSON.parse(line) as AuditEvent;
    return {
      user: user.username,
      verb,
      group: objectRef.apiGroup ?? '',
      resource: objectRef.resource ?? '',
      subresource: objectRef.subresource ?? '',
      namespace: objectRef.namespace ?? '',
      name: objectRef.name ?? '',
      code: responseStatus?.code ?? 0,
    };
  });
}

/** Number of writes by user and by `verb resource[/subresource]`. */
export function writesByUser(writes: readonly AuditedWrite[]): Map<string, Map<string, number>> {
  const users = new Map<string, Map<string, number>>();
  for (const { user, verb, resource, subresource } of writes) {
    const counts = users.get(user) ?? new Map<string, number>();
    const write = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(write, (counts.get(write) ?? 0) + 1);
    users.set(user, counts);
  }
  return users;
}
