/** Workloads that have ended, as jobs of a trace: those of the table and those that are archived. */
import { NANO, parseQuantity } from '../jobspec/quantity';
import type { Database } from './database';
import type { Result } from './workload';

export interface TracePeriod {
  /** Unix seconds: workloads that ended in this period. */
  readonly from: number;
  readonly until: number;
}

/** A workload that has started and ended. Times are Unix seconds. */
export interface TracedWorkload {
  readonly submittedAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Seconds. */
  readonly walltime: number;
  /** Cores that all of its pods request, rounded up; at least 1. */
  readonly cores: number;
  readonly result: Result;
  readonly user: string;
  readonly namespace: string;
  readonly queue: string;
}

type Traced = Omit<TracedWorkload, 'cores'> & { readonly pods: number; readonly cpu: string | null };

const seconds = (time: string) => `extract(epoch FROM ${time})::float8`;
const columns = (column: (name: string) => string, time: (name: string) => string, jobspec: string) => `
  ${seconds(time('submitted_at'))} AS "submittedAt", ${seconds(time('started_at'))} AS "startedAt",
  ${seconds(time('finished_at'))} AS "finishedAt", (${column('walltime')})::float8 AS walltime, (${column('pods')})::int AS pods,
  ${column('result')} AS result, ${column('usr')} AS "user", ${column('namespace')} AS namespace, ${column('queue')} AS queue,
  ${jobspec}->'attributes'->'user'->'requests'->>'cpu' AS cpu, (${column('seq')})::bigint AS seq`;
const archived = (name: string) => `a.workload->>'${name}'`;
const plain = (name: string) => `w.${name}`;

const ENDED = `
SELECT * FROM (
  SELECT ${columns(plain, plain, 'w.jobspec')} FROM fluxqueue.workloads w WHERE w.phase = 'Finished'
  UNION ALL
  SELECT ${columns(archived, (name) => `(${archived(name)})::timestamptz`, `(a.workload->'jobspec')`)} FROM fluxqueue.archive a
) ended
WHERE "startedAt" IS NOT NULL AND "finishedAt" >= $1 AND "finishedAt" < $2 ORDER BY "submittedAt", seq`;

export async function tracedWorkloads(
  database: Database,
  { from, until }: TracePeriod,
): Promise<TracedWorkload[]> {
  const ended = await database.query<Traced>(ENDED, [from, until]);
  return ended.map(({ pods, cpu, ...workload }) => ({ ...workload, cores: coresOf(pods, cpu) }));
}

function coresOf(pods: number, cpu: string | null): number {
  const nano = cpu === null ? 0n : parseQuantity(cpu, 'cpu') * BigInt(pods);
  return Math.max(1, Number((nano + NANO - 1n) / NANO));
}
