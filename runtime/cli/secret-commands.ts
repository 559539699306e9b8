/** The one-shot commands `password` and `keygen`. Each of them fills one Secret, once. */
import type { Command } from 'commander';
import { ensurePassword } from './database-password';
import { ensureCurve } from './keygen';
import { withClient } from './with-client';

export function addSecretCommands(program: Command): void {
  program
    .command('password')
    .description("create the password of the stack's own Postgres, if it does not exist")
    .requiredOption('--namespace <name>', 'namespace of the Secret')
    .requiredOption(
      '--secret <name>',
      'its keys password and url are filled; it is created if it does not exist',
    )
    .requiredOption('--url <url>', 'postgres:// URL without a password')
    .requiredOption('--file <path>', 'the file to which the password is written')
    .action((options: { namespace: string; secret: string; url: string; file: string }) =>
      withClient({ userAgent: 'fluxqueue-password' }, (client) => ensurePassword({ client, ...options })),
    );

  program
    .command('keygen')
    .description('create the certificate of a MiniCluster, if it does not exist')
    .requiredOption('--namespace <name>', 'namespace of the Secret')
    .requiredOption('--secret <name>', 'the Secret; its key curve.cert is filled')
    .requiredOption('--cluster <name>', "name of the MiniCluster, which appears in the brokers' logs")
    .action(async (options: { namespace: string; secret: string; cluster: string }) => {
      const outcome = await withClient({ userAgent: 'fluxqueue-keygen' }, (client) =>
        ensureCurve({ client, ...options }),
      );
      process.stdout.write(`certificate ${outcome}: Secret ${options.namespace}/${options.secret}\n`);
    });
}
