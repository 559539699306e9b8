/** The subcommand `render`: a file or stdin in, manifests on stdout, what to know on stderr. */
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
    .description('the manifests of MiniClusters, for GitOps without the controller and for looking')
    .argument('[file]', 'YAML with one or more MiniClusters; - or nothing reads stdin', '-')
    .option('-n, --namespace <name>', 'namespace of the manifests, in place of the MiniCluster’s own')
    .option('--keygen', 'with a one-shot Job that makes the certificate')
    .option('--keygen-image <image>', 'image of the runtime for that Job')
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
