/** The runtime: one program with a subcommand for each role and command. */
import { Command } from 'commander';
import { version } from '../package.json';
import { addCommands } from './cli/commands';
import { plainLines } from './columns';
import type { Config } from './config';
import { configured } from './configured';
import { messageOf } from './errors';
import { endWithReader, exitWhenWritten } from './exit';
import { requireRolesNode } from './node-version';
import type { Logger } from './observability/log';
import { startController } from './roles/controller';
import { startFluxion } from './roles/fluxion';
import { startReader } from './roles/reader';
import type { Role } from './roles/role';
import { startWebhookRole } from './roles/webhook';

const ROLES: Readonly<
  Record<string, { summary: string; start: (config: Config, logger: Logger) => Promise<Role> }>
> = {
  controller: {
    summary: 'queue, scheduling loop and controllers, with leader election',
    start: startController,
  },
  webhook: { summary: 'admission webhook', start: startWebhookRole },
  reader: { summary: 'read API, for the questions of users', start: startReader },
  fluxion: { summary: 'Fluxion service with flux-sched or the embedded matcher', start: startFluxion },
};

async function run(name: string, options: { config?: string }): Promise<void> {
  requireRolesNode('the roles of the stack', 'run them in the image of the stack, or with');
  const { config, logger } = configured(name, options.config);
  // As the first process of a container it ends by no signal that it does not handle.
  const ended = signal();
  const role = await Promise.race([ROLES[name]!.start(config, logger), ended]);
  if (typeof role === 'string') {
    logger.info({ reason: role }, 'stopped before it had started');
    process.exit();
  }
  const reason = await Promise.race([ended, role.failed]);
  logger.info({ reason: messageOf(reason) }, 'stopping');
  await role.stop();
  if (reason instanceof Error) throw reason;
}

/** The first SIGTERM or SIGINT stops the role gracefully, the second one at once. */
function signal(): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (name: NodeJS.Signals) => {
      if (isStopping) process.exit(130);
      isStopping = true;
      resolve(name);
    };
    // Not once(): between two listeners, the signal would end the role as it is.
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}

const program = new Command('fluxqueue')
  .description('HPC scheduling for Kubernetes: the runtime')
  .version(version, '--version', 'print the version of the program');
addCommands(program);
// Set last: the commands have messages of their own.
program.showHelpAfterError(
  '(options stand after their command, as in: kubectl fluxqueue queue -n science; --help lists the commands)',
);
program.commandsGroup('Roles of the stack, which its manifests start:');
for (const [name, { summary }] of Object.entries(ROLES))
  program
    .command(name)
    .description(summary)
    .option('--config <file>', 'YAML configuration')
    .action((options: { config?: string }) => run(name, options));

endWithReader();
// `-o=json` means `-o json`, as for kubectl; `-n=` with nothing behind it is an empty value.
const spread = (text: string) => (/^-[A-Za-z]=/.test(text) ? [text.slice(0, 2), text.slice(3)] : [text]);
program.parseAsync(process.argv.flatMap(spread)).then(
  // A command that a signal ended has set its exit code.
  () => exitWhenWritten(),
  (error: unknown) => {
    process.stderr.write(`${plainLines(messageOf(error))}\n`);
    return exitWhenWritten(1);
  },
);
