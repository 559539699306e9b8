/** The completion of command lines: `completion` prints the script of a shell, and the scripts and kubectl call `__complete`. */
import { Argument, type Command } from 'commander';
import { plainLines } from '../columns';
import { messageOf } from '../errors';
import { nameOf } from '../fluxjobs/reading';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { contextNames } from '../kubernetes/kubeconfig';
import { namespaces, nodes } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { type Asked, type Candidate, complete, completionLines, type Lookup } from './complete';
import { SCRIPTS } from './completion-scripts';
import { withClient } from './with-client';

export function addCompletionCommands(program: Command): void {
  program
    .command('completion')
    .description('print the script that completes command lines of fluxqueue in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell]);
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]', 'the words of a command line behind --, the last of them unfinished')
    .action(async (words: readonly string[]) => {
      const completion = await complete(program, words, (what, asked) =>
        lookUp(what, asked, words.at(-1) ?? ''),
      );
      process.stdout.write(`${completionLines(completion).join('\n')}\n`);
    });
}

/** Milliseconds for which a user waits for names at most. */
const PATIENCE = 2_000;

/** What a completion that finds nothing says of why: shells throw it away, `fluxqueue __complete` by hand shows it. */
async function lookUp(what: Lookup, asked: Asked, partial: string): Promise<readonly Candidate[]> {
  try {
    return await namesOf(what, asked, partial);
  } catch (error) {
    process.stderr.write(`${plainLines(messageOf(error))}\n`);
    return [];
  }
}

async function namesOf(what: Lookup, asked: Asked, partial: string): Promise<readonly Candidate[]> {
  if (what === 'contexts') return contextNames().map((value) => ({ value }));
  const { namespace, context } = asked.options;
  const options = {
    userAgent: 'fluxqueue-cli',
    timeout: PATIENCE,
    ...(context !== undefined && { context }),
  };
  return withClient(options, async (client) => {
    if (what === 'namespaces') return objectNames(client, namespaces());
    if (what === 'nodes') return objectNames(client, nodes());
    const path = fluxJobs(namespace ?? client.namespace ?? 'default');
    const { items } = await client.list<FluxJobObject>(path, { retries: 0 });
    if (what === 'queues')
      return [...new Set(items.map(({ spec }) => spec.queue))].map((value) => ({ value }));
    return workloadNames(items, asked, partial);
  });
}

async function objectNames(client: KubernetesClient, path: string): Promise<Candidate[]> {
  const { items } = await client.list<KubernetesObject>(path, { metadataOnly: true, retries: 0 });
  return items.map(({ metadata }) => ({ value: metadata.name }));
}

/** Commands that have something to say of, or to do with what has ended. */
const OF_ENDED: ReadonlySet<string> = new Set(['queue', 'why', 'when', 'cancel', 'history']);

/** Names alone, or with their kinds for who has begun to write one. */
function workloadNames(items: readonly FluxJobObject[], { command }: Asked, partial: string): Candidate[] {
  const names = new Map(
    items
      .filter(({ status }) => status?.phase !== 'Finished' || OF_ENDED.has(command))
      .map((item) => [
        partial.includes('/') ? nameOf(item) : item.spec.workload.name,
        item.status?.phase ?? '',
      ]),
  );
  return [...names].map(([value, description]) => ({ value, description }));
}
