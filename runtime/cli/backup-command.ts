/** The command `store-backup`: brings the dump of this run into a bucket (constructs/fluxqueue/backup.ts). */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { FluxqError } from '../errors';
import { putFile } from './s3';

interface Options {
  readonly folder: string;
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
}

export function addBackupCommand(program: Command): void {
  program
    .command('store-backup')
    .description(
      'put the dumps of a folder into a bucket of S3; the login is in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    )
    .requiredOption('--folder <path>', 'folder with files NAME.dump')
    .requiredOption('--endpoint <url>', 'URL of the store')
    .requiredOption('--bucket <name>', 'its bucket')
    .option('--prefix <text>', 'first part of the names of the objects', '')
    .option('--region <name>', 'region for which requests are signed', 'us-east-1')
    .action((options: Options) => storeBackups(options));
}

/** @throws FluxqError FLUXQ_BACKUP_STORE, FLUXQ_BACKUP_MISSING, FLUXQ_CONFIG_INVALID */
export async function storeBackups(
  { folder, prefix, ...store }: Options,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const bucket = {
    ...store,
    accessKeyId: required(environment, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: required(environment, 'AWS_SECRET_ACCESS_KEY'),
  };
  const dumps = readdirSync(folder).filter((name) => name.endsWith('.dump'));
  if (dumps.length === 0)
    throw new FluxqError('FLUXQ_BACKUP_MISSING', 'has no dump', {
      field: folder,
      remedy: 'read the log of the container dump',
    });
  for (const name of dumps) {
    await putFile(bucket, `${prefix}${name}`, join(folder, name));
    process.stderr.write(`fluxqueue: stored ${prefix}${name} in ${store.bucket}\n`);
  }
}

function required(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (value !== undefined && value !== '') return value;
  throw new FluxqError('FLUXQ_CONFIG_INVALID', 'is not set', {
    field: name,
    remedy: 'give it by the Secret of BackupTarget.s3({ credentials })',
  });
}
