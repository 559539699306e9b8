/**
 * `npm run -s bench:growth -- [--json] [--jobs 20000] [--rounds 4] [--budget 1000]`: bytes that a Job leaves in the database, and how far
 * the tables grow while a namespace ends so many Jobs in every round, with and without the budget of its hour.
 */
import { Command } from 'commander';
import { Client } from 'pg';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import { startPostgres } from '../cluster/postgres';
import { benchSubmission, UNITS } from './queue-rows';

const options = new Command('bench:growth')
  .option('--jobs <n>', 'Jobs of a round, all of one namespace and hour', Number, 20_000)
  .option('--rounds <n>', 'rounds', Number, 4)
  .option('--budget <n>', 'rows that the namespace keeps of them', Number, 1_000)
  .option('--json', 'print one line', false)
  .parse()
  .opts<{ jobs: number; rounds: number; budget: number; json: boolean }>();

const BATCH = 500;
const NOW = Math.floor(Date.now() / 3_600_000) * 3600;

/** What becomes of a Job. */
const LIVES = { ran: live, deleted: deleteWaiting } as const;

async function live(queue: Queue, fence: number, uids: readonly string[]): Promise<void> {
  const rows = await queue.submit(fence, uids.map(submissionOf));
  const nodes = [{ name: 'worker-1', units: { core: '0', memory: '0-3' } }];
  const allocation = (jobid: number) => ({ jobid, start: NOW, end: NOW + 60, nodes });
  await queue.allocate(
    fence,
    rows.map(({ uid, jobid }) => ({ uid, allocation: allocation(jobid) })),
  );
  await queue.released(fence, uids, NOW);
  await queue.running(
    fence,
    uids.map((uid) => ({ uid, startedAt: NOW })),
  );
  await queue.finish(
    fence,
    uids.map((uid) => ({ uid, result: 'Succeeded', finishedAt: NOW + 10 })),
  );
}

async function deleteWaiting(queue: Queue, fence: number, uids: readonly string[]): Promise<void> {
  await queue.submit(fence, uids.map(submissionOf));
  await queue.wait(
    fence,
    uids.map((uid) => ({ uid, reason: 'Busy', message: 'needs 1 pod with 1 core', estimatedStart: null })),
  );
  await queue.finish(
    fence,
    uids.map((uid) => ({ uid, result: 'Cancelled', finishedAt: NOW + 10 })),
  );
}

function submissionOf(uid: string) {
  return {
    ...benchSubmission(0, { pods: 1, cores: 1, walltime: 60 }),
    uid,
    name: `churn-${uid}`,
    namespace: 'science',
  };
}

async function bytesOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  // What autovacuum does in time.
  await client.query('VACUUM ANALYZE');
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class WHERE relnamespace = 'fluxqueue'::regnamespace AND relkind = 'r'`,
  );
  await client.end();
  return Number(rows[0]!.bytes);
}

/** The size after each round, in bytes. */
async function sizesOf(life: keyof typeof LIVES, budget: number | undefined, url: string): Promise<number[]> {
  const queue = openQueue({ url, units: UNITS });
  try {
    await queue.migrate();
    const fence = await queue.acquireFence('bench');
    const sizes = [await bytesOf(url)];
    for (let round = 0; round < options.rounds; round++) {
      for (let from = 0; from < options.jobs; from += BATCH) {
        const uids = Array.from({ length: BATCH }, (_, i) => `${round}-${from + i}`);
        await LIVES[life](queue, fence, uids);
      }
      if (budget !== undefined) await condense(queue, fence, budget);
      sizes.push(await bytesOf(url));
    }
    return sizes;
  } finally {
    await queue.close();
  }
}

/** Bytes of the archive for each Job that ran and is archived. */
async function archivedBytes(url: string): Promise<number> {
  const queue = openQueue({ url, units: UNITS });
  try {
    await queue.migrate();
    const fence = await queue.acquireFence('bench');
    const uids = Array.from({ length: BATCH }, (_, i) => `archived-${i}`);
    await LIVES.ran(queue, fence, uids);
    await queue.archive(fence, NOW + 3600, BATCH);
    const archive = (await queue.sizes()).find(({ table }) => table === 'archive');
    return Math.round(archive!.bytes / BATCH);
  } finally {
    await queue.close();
  }
}

async function condense(queue: Queue, fence: number, budget: number): Promise<void> {
  for (;;) {
    const found = await queue.beyondBudget({ budget, hour: NOW, before: NOW + 3600, limit: BATCH });
    if (found.length === 0) return;
    await queue.condense(
      fence,
      found.map(({ uid }) => uid),
    );
  }
}

async function main(): Promise<void> {
  const postgres = await startPostgres({ own: true });
  try {
    const figures: Record<string, number | readonly number[]> = {
      archivedBytesPerJob: await archivedBytes(await postgres.freshDatabase()),
    };
    for (const life of ['ran', 'deleted'] as const) {
      const all = await sizesOf(life, undefined, await postgres.freshDatabase());
      const kept = await sizesOf(life, options.budget, await postgres.freshDatabase());
      const jobs = options.jobs * options.rounds;
      figures[`${life}BytesPerJob`] = Math.round((all.at(-1)! - all[0]!) / jobs);
      figures[`${life}MiB`] = all.map(inMiB);
      figures[`${life}WithBudgetMiB`] = kept.map(inMiB);
    }
    process.stdout.write(`${JSON.stringify(figures, undefined, options.json ? 0 : 2)}\n`);
  } finally {
    await postgres.stop();
  }
}

function inMiB(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10;
}

void main();
