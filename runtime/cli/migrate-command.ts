/**
 * The command `migrate` migrates the tables as their owner and gives the role of the controllers its rights, so that the
 * controllers need no right to change tables. In the pod of the stack's own database it reaches Postgres by a Unix socket;
 * for an existing database it is an init container of the controllers, the only one with the owner's URL.
 */
import type { Command } from 'commander';
import { backoff, pause, systemTime } from '../clock';
import { databaseSource } from '../config';
import { configured } from '../configured';
import { FluxqError } from '../errors';
import type { Logger } from '../observability/log';
import { openDatabase } from '../queue/database';
import { migrateAndGrant } from '../queue/migrate';
import type { DatabaseAccess } from '../queue/tls';

interface Options {
  readonly grantTo: string;
  readonly stay?: boolean;
  readonly config?: string;
}

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the tables of the queue as their owner, once the database answers')
    .requiredOption('--grant-to <role>', 'role that gets the rights of the controllers')
    .option('--stay', 'run on until SIGTERM, because a container of a pod must not end')
    .option('--config <file>', 'YAML configuration')
    .action(run);
}

async function run({ grantTo, stay, config: file }: Options): Promise<void> {
  const { config, logger } = configured('migrate', file);
  const source = databaseSource(config);
  if (!('url' in source))
    throw new FluxqError('FLUXQ_CONFIG_INVALID', 'is missing', {
      field: 'database.url',
      remedy: "set DATABASE_URL to the URL of the tables' owner",
    });
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  await migrateAs(source, grantTo, logger, stopping.signal);
  if (stay === true && !stopping.signal.aborted) await untilAborted(stopping.signal);
}

/** Waits for a database that is down. @throws FluxqError that a retry cannot help */
async function migrateAs(
  access: DatabaseAccess,
  role: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const database = openDatabase({ ...access, connections: 1, logger });
  try {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await migrateAndGrant(database, role);
        logger.info({ grantedTo: role }, 'the tables are migrated');
        return;
      } catch (error) {
        if (!(error instanceof FluxqError) || !error.retryable) throw error;
        logger.info({ error: error.message }, 'waiting for the database');
        const wait = backoff({ first: 100, most: 2_000 }, failures, systemTime.random);
        await pause(systemTime.clock, wait, signal);
      }
    }
  } finally {
    await database.close();
  }
}

/** A pending promise does not keep a process alive, a timer does. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, 3_600_000);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      resolve();
    });
  });
}
