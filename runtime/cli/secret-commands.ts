/** The one-shot commands `password` and `keygen`. Each of them fills one Secret, once. */
import type { Command } from 'commander';
import { ensurePassword } from './database-password';
import { ensureCurve } from './keygen';
import { withClient } from './with-client';

export function addSecretCommands(program: Command): void {
  program
    .command('password')
    .description("create the password and the certificate of the stack's own Postgres, if they do not exist")
    .requiredOption('--namespace <name>', 'namespace of the Secret')
    .requiredOption(
      '--secret <name>',
      'its keys password, url, ca.crt, tls.crt and tls.key are filled; it is created if it does not exist',
    )
    .requiredOption('--url <url>', 'postgres:// URL without a password')
    .requiredOption('--folder <path>', 'the folder to which password, tls.crt and tls.key are written')
    .action((options: { namespace: string; secret: string; url: string; folder: string }) =>
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
