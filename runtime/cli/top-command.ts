/** The command `top`, which users run with their own kubeconfig and rights. */
import { type Command, InvalidArgumentError } from 'commander';
import { fluxJobs } from '../kubernetes/custom-resources';
import { show } from './show';
import { TOP_KEYS, type TopKey, topPicture } from './top';
import { emptySentence } from './unknown-workload';
import { inNamespace, type Scope, scoped } from './with-client';
import { foundObjects, makerSources, type QueueObjects, usersOf, workloadSources } from './workload-objects';

interface TopOptions extends Scope {
  readonly allNamespaces: boolean;
  readonly by: readonly TopKey[];
  readonly watch: boolean;
}

export function addTopCommand(program: Command): void {
  scoped(program.command('top'))
    .description('print who uses how many nodes, and what waits')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('--by <keys>', `one or more of ${TOP_KEYS.join(',')}`, keysOf, ['queue', 'user'] as const)
    .option('-w, --watch', 'go on to print what changes, until Ctrl-C', false)
    .action(printTop);
}

/** The value of an option `--by`. */
export function keysOf(text: string): TopKey[] {
  return text.split(',').map((word) => {
    const key = TOP_KEYS.find((each) => each === word.trim());
    if (key === undefined) throw new InvalidArgumentError(`must be one or more of ${TOP_KEYS.join(',')}.`);
    return key;
  });
}

async function printTop({ allNamespaces, by, watch, ...options }: TopOptions): Promise<void> {
  await inNamespace(options, async (client, namespace) => {
    const scope = allNamespaces ? undefined : namespace;
    const empty = await emptySentence(client, scope);
    const needsUsers = by.includes('user');
    return show<QueueObjects>(
      client,
      {
        fluxJobs: { path: fluxJobs(scope) },
        ...(needsUsers ? { ...workloadSources(scope), ...makerSources(scope) } : {}),
      },
      ({ fluxJobs, ...objects }) => ({
        ...topPicture(fluxJobs, usersOf(foundObjects(fluxJobs, objects)), by),
        empty,
      }),
      { watch },
    );
  });
}
