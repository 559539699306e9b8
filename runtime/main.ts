/** The runtime: one program, one role per subcommand. */
import { Command } from 'commander';
import { startWebhookRole } from './admission/role';
import { type Config, databaseUrl, loadConfig } from './config';
import { startController } from './controllers/controller';
import { messageOf } from './errors';
import { startFluxion } from './fluxion/role';
import { createClient } from './kubernetes/client';
import { ensureCurve } from './minicluster/keygen';
import { createLogger, type Logger } from './observability/log';
import { ACCOUNTING_KEYS } from './queue/accounting';
import { ensurePassword } from './queue/password';
import { openQueue } from './queue/queue';
import {
  type AccountingArguments,
  accountingLines,
  accountingQuery,
  historyLines,
  startOfMonth,
  workloadName,
} from './queue/report';
import type { Queue } from './queue/types';
import { addRenderCommand } from './render/command';
import type { Role } from './role';

const ROLES: Readonly<
  Record<string, { summary: string; start: (config: Config, logger: Logger) => Promise<Role> }>
> = {
  controller: { summary: 'queue, scheduling loop and controllers (leader-elected)', start: startController },
  webhook: { summary: 'admission webhook', start: startWebhookRole },
  fluxion: { summary: 'Fluxion service over flux-sched or the embedded matcher', start: startFluxion },
};

async function run(name: string, options: { config?: string }): Promise<void> {
  const config = loadConfig(options.config);
  const logger = createLogger(name, config.logLevel);
  const role = await ROLES[name]!.start(config, logger);
  const reason = await Promise.race([signal(), role.failed]);
  logger.info({ reason: messageOf(reason) }, 'stopping');
  await role.stop();
  if (reason instanceof Error) throw reason;
}

/** Answers from the queue's tables, whoever leads at the moment. */
async function ask(file: string | undefined, question: (queue: Queue) => Promise<string[]>): Promise<void> {
  const queue = openQueue({ url: databaseUrl(loadConfig(file)) });
  try {
    for (const line of await question(queue)) process.stdout.write(`${line}\n`);
  } finally {
    await queue.close();
  }
}

/** The first SIGTERM or SIGINT stops gracefully, the second at once. */
function signal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.once(name, () => {
        process.once(name, () => process.exit(130));
        resolve(name);
      });
  });
}

const program = new Command('fluxqueue').description('HPC scheduling for Kubernetes: the runtime');
for (const [name, { summary }] of Object.entries(ROLES))
  program
    .command(name)
    .description(summary)
    .option('--config <file>', 'YAML configuration')
    .action((options: { config?: string }) => run(name, options));

program
  .command('password')
  .description("one-shot: makes the password of the stack's own Postgres, once")
  .requiredOption('--namespace <name>', 'namespace of the Secret')
  .requiredOption('--secret <name>', 'its keys password and url are filled; made when it is not there')
  .requiredOption('--url <url>', 'postgres:// URL without a password')
  .requiredOption('--file <path>', 'where to write the password')
  .action(async (options: { namespace: string; secret: string; url: string; file: string }) => {
    const client = createClient({ userAgent: 'fluxqueue-password' });
    await ensurePassword({ client, ...options });
    client.close();
  });

program
  .command('history')
  .description('what happened to a workload: when, what, by whom, why; also when it is long over')
  .argument('<workload>', 'namespace/name')
  .option('--config <file>', 'YAML configuration')
  .action((workload: string, { config }: { config?: string }) =>
    ask(config, async (queue) => {
      const { namespace, name } = workloadName(workload);
      const lines = historyLines(await queue.historyOf(namespace, name));
      return lines.length > 0 ? lines : [`nothing of this name was ever queued: ${workload}`];
    }),
  );

program
  .command('accounting')
  .description('jobs, and hours of cores, memory and gpus that were held')
  .option('--from <time>', 'ISO date or time', startOfMonth())
  .option('--until <time>', 'ISO date or time', new Date().toISOString())
  .option('--by <keys>', `of ${ACCOUNTING_KEYS.join(',')}`, 'queue,user')
  .option('--json', 'as JSON')
  .option('--config <file>', 'YAML configuration')
  .action(({ config, json, ...period }: AccountingArguments & { config?: string; json?: boolean }) =>
    ask(config, async (queue) => {
      const lines = await queue.accounting(accountingQuery(period));
      return json ? [JSON.stringify(lines)] : accountingLines(lines);
    }),
  );

program
  .command('keygen')
  .description('one-shot: makes the certificate of a MiniCluster, once')
  .requiredOption('--namespace <name>', 'namespace of the Secret')
  .requiredOption('--secret <name>', 'the Secret; its key curve.cert is filled')
  .requiredOption('--cluster <name>', "name of the MiniCluster, for the brokers' logs")
  .action(async (options: { namespace: string; secret: string; cluster: string }) => {
    const client = createClient({ userAgent: 'fluxqueue-keygen' });
    const outcome = await ensureCurve({ client, ...options });
    client.close();
    process.stdout.write(`certificate ${outcome}: Secret ${options.namespace}/${options.secret}\n`);
  });

addRenderCommand(program);

program.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(1);
  },
);
