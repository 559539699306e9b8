/** The command `render` reads a file or stdin and prints manifests to stdout and notes to stderr. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { FluxqError, messageOf } from '../errors';
import { render } from './render';

interface Options {
  readonly namespace?: string;
  readonly keygen?: boolean;
  readonly keygenImage?: string;
}

export function addRenderCommand(program: Command): void {
  program
    .command('render')
    .description('print the manifests of MiniClusters, for review or for GitOps without the controller')
    .argument('[file]', 'YAML with one or more MiniClusters; - reads stdin', '-')
    .option('-n, --namespace <name>', 'namespace of the manifests, instead of the MiniCluster’s own')
    .option('--keygen', 'add a one-shot Job that creates the certificate')
    .option('--keygen-image <image>', 'image of the runtime for this Job')
    .action((file: string, options: Options) => {
      const { yaml, notes } = render({
        ...input(file),
        ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
        ...(options.keygen === true || options.keygenImage !== undefined ? { keygen: keygen(options) } : {}),
      });
      process.stdout.write(yaml);
      for (const note of notes) process.stderr.write(`${note}\n`);
    });
}

function keygen({ keygenImage }: Options) {
  return keygenImage === undefined ? {} : { image: keygenImage };
}

function input(file: string): { text: string; source: string } {
  const source = file === '-' ? 'stdin' : file;
  try {
    return { text: readFileSync(file === '-' ? 0 : file, 'utf8'), source };
  } catch (error) {
    throw new FluxqError('FLUXQ_RENDER_INPUT', `can't be read: ${messageOf(error)}`, {
      field: source,
      remedy: 'give a readable file, or - for stdin',
      cause: error,
    });
  }
}
