/** What a standby costs while another controller leads: its memory, its processor time and its statements. */
import type { Client } from 'pg';
import type { RoleProcess } from '../stack/roles';

export interface StandbyCost {
  readonly leaderMiB: number;
  readonly standbyMiB: number;
  /** Thousandths of a core. */
  readonly leaderMillis: number;
  readonly standbyMillis: number;
  readonly standbyStatementsPerMinute: number;
}

const MEASURE_MS = 60_000;
/** A standby asks every 5 s: that is far more seldom than it is looked at. */
const LOOK_MS = 100;

/** The connections of this moment, each with the start of its last statement. */
async function connections(database: Client): Promise<ReadonlyMap<number, string>> {
  const { rows } = await database.query<{ pid: number; at: string }>(
    `SELECT pid, query_start::text AS at FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query_start IS NOT NULL`,
  );
  return new Map(rows.map(({ pid, at }) => [pid, at]));
}

/** @param others connections that are not those of the standby */
export async function standbyCost(
  database: Client,
  { leader, standby, others }: Record<'leader' | 'standby', RoleProcess> & { others: ReadonlySet<number> },
): Promise<StandbyCost> {
  const before = { leader: await usageOf(leader), standby: await usageOf(standby) };
  const began = performance.now();
  const last = new Map(await connections(database));
  let statements = 0;
  while (performance.now() - began < MEASURE_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    for (const [pid, at] of await connections(database)) {
      if (!others.has(pid) && last.get(pid) !== at) statements += 1;
      last.set(pid, at);
    }
  }
  const seconds = (performance.now() - began) / 1000;
  const after = { leader: await usageOf(leader), standby: await usageOf(standby) };
  const millis = (name: 'leader' | 'standby') =>
    Math.round(((after[name].cpuSeconds - before[name].cpuSeconds) / seconds) * 1000);
  return {
    leaderMiB: after.leader.memoryMiB,
    standbyMiB: after.standby.memoryMiB,
    leaderMillis: millis('leader'),
    standbyMillis: millis('standby'),
    standbyStatementsPerMinute: Math.round((statements / seconds) * 60),
  };
}

export async function connectionsNow(database: Client): Promise<ReadonlySet<number>> {
  return new Set((await connections(database)).keys());
}

async function usageOf(role: RoleProcess): Promise<{ memoryMiB: number; cpuSeconds: number }> {
  const metrics = await role.metrics();
  const value = (name: string) => Number(new RegExp(`^${name} ([\\d.e+-]+)`, 'm').exec(metrics)?.[1]);
  return {
    memoryMiB: Math.round(value('process_resident_memory_bytes') / 2 ** 20),
    cpuSeconds: value('process_cpu_seconds_total'),
  };
}
