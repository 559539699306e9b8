/** The one-shot subcommands `password` and `keygen`: each fills one Secret, once. */
import type { Command } from 'commander';
import { createClient, type KubernetesClient } from '../kubernetes/client';
import { ensurePassword } from './database-password';
import { ensureCurve } from './keygen';

export function addSecretCommands(program: Command): void {
  program
    .command('password')
    .description("one-shot: makes the password of the stack's own Postgres, once")
    .requiredOption('--namespace <name>', 'namespace of the Secret')
    .requiredOption(
      '--secret <name>',
      'its keys password and url are filled; it is created if it does not exist',
    )
    .requiredOption('--url <url>', 'postgres:// URL without a password')
    .requiredOption('--file <path>', 'where to write the password')
    .action((options: { namespace: string; secret: string; url: string; file: string }) =>
      withClient('fluxqueue-password', (client) => ensurePassword({ client, ...options })),
    );

  program
    .command('keygen')
    .description('one-shot: makes the certificate of a MiniCluster, once')
    .requiredOption('--namespace <name>', 'namespace of the Secret')
    .requiredOption('--secret <name>', 'the Secret; its key curve.cert is filled')
    .requiredOption('--cluster <name>', "name of the MiniCluster, for the brokers' logs")
    .action(async (options: { namespace: string; secret: string; cluster: string }) => {
      const outcome = await withClient('fluxqueue-keygen', (client) => ensureCurve({ client, ...options }));
      process.stdout.write(`certificate ${outcome}: Secret ${options.namespace}/${options.secret}\n`);
    });
}

async function withClient<T>(userAgent: string, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = createClient({ userAgent });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
