/**
 * Usage by queue, namespace and user. It has three sources that never overlap: what rows hold now, what they held
 * (table usage), and what is archived (daily sums). Units count from the start of the first
 * pod on: what waits for an image or a volume is not charged, unless a cause of its own ends its grant.
 */
import type { Database } from './database';
import { amounts, chargedFrom } from './usage';

const COLUMNS = { queue: 'queue', namespace: 'namespace', user: 'usr' } as const;

export type AccountingKey = keyof typeof COLUMNS;
export const ACCOUNTING_KEYS = Object.keys(COLUMNS) as readonly AccountingKey[];

export interface AccountingQuery {
  /** Unix seconds. An archived day counts as a whole if its start (UTC) is in the period. */
  readonly from: number;
  readonly until: number;
  /** Returns one line for each combination of these; without any, one line for everything. */
  readonly by: readonly AccountingKey[];
  /** Counts only the workloads of this namespace. @default - all namespaces */
  readonly namespace?: string;
}

export interface AccountingLine {
  readonly queue?: string;
  readonly namespace?: string;
  readonly user?: string;
  /** Jobs that finished in the period. */
  readonly jobs: number;
  /** Pods of those jobs. */
  readonly pods: number;
  readonly cpuHours: number;
  readonly memoryGiBHours: number;
  readonly gpuHours: number;
}

/** SQL for the seconds of [since, till) within the period. */
const within = (since: string, till: string) =>
  `greatest(0, extract(epoch FROM least(${till}, period.till) - greatest(${since}, period.since))::float8)`;

const parts = `
WITH period AS (SELECT to_timestamp($1) AS since, to_timestamp($2) AS till),
fence AS (SELECT cpu_millis, memory_mib FROM fluxqueue.leader),
held AS (
  SELECT u.queue, u.namespace, u.usr, u.cores, u.memory_gib, u.gpus, ${within('u.held_from', 'u.held_until')} AS seconds
  FROM fluxqueue.usage u, period WHERE u.held_until > period.since AND u.held_from < period.till
  UNION ALL
  SELECT w.queue, w.namespace, w.usr, a.cores, a.memory_gib, a.gpus, ${within('charged.since', 'clock_timestamp()')}
  FROM fence, period, fluxqueue.workloads w, LATERAL (SELECT ${chargedFrom('w')} AS since) charged, LATERAL ${amounts(`w.allocation->'nodes'`)} a
  WHERE w.phase <> 'Finished' AND charged.since < period.till
),
parts AS (
  SELECT queue, namespace, usr, 0 AS jobs, 0 AS pods, cores * seconds AS cpu, memory_gib * seconds AS memory, gpus * seconds AS gpu
  FROM held
  UNION ALL
  SELECT w.queue, w.namespace, w.usr, 1, w.pods, 0, 0, 0 FROM fluxqueue.workloads w, period
  WHERE w.phase = 'Finished' AND w.finished_at >= period.since AND w.finished_at < period.till
  UNION ALL
  SELECT d.queue, d.namespace, d.usr, d.jobs, d.pods, d.core_seconds, d.memory_gib_seconds, d.gpu_seconds
  FROM fluxqueue.usage_days d, period
  WHERE d.day::timestamp AT TIME ZONE 'UTC' >= period.since AND d.day::timestamp AT TIME ZONE 'UTC' < period.till
)`;

export function accounting(
  database: Database,
  { from, until, by, namespace }: AccountingQuery,
): Promise<AccountingLine[]> {
  const keys = [...new Set(by)];
  const select = keys.map((key) => `${COLUMNS[key]} AS "${key}", `).join('');
  const group = keys.map((key) => COLUMNS[key]).join(', ');
  return database.query<AccountingLine>(
    `${parts}
SELECT ${select} coalesce(sum(jobs), 0)::float8 AS jobs, coalesce(sum(pods), 0)::float8 AS pods,
  coalesce(sum(cpu), 0) / 3600 AS "cpuHours", coalesce(sum(memory), 0) / 3600 AS "memoryGiBHours",
  coalesce(sum(gpu), 0) / 3600 AS "gpuHours"
FROM parts WHERE $3::text IS NULL OR namespace = $3 ${keys.length === 0 ? '' : `GROUP BY ${group} ORDER BY ${group}`}`,
    [from, until, namespace ?? null],
  );
}
