/**
 * The commands about workloads, which users run with their own kubeconfig and rights, also as `kubectl fluxqueue queue`. They read FluxJobs,
 * and change what users may change themselves: an annotation of the workload, or the workload.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import { HOLD, PRIORITY, SUSPEND_ANNOTATION } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import { fluxJobName } from '../fluxjobs/status';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { ifFound } from '../kubernetes/errors';
import { jobs, type NamespacedPath, pods } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { inNamespace, type Scope } from './with-client';
import { startSentence, whyLines } from './why';
import { inLine, nameOf, queueLines } from './workloads';

/** Changes by these commands are a user's, like those by `kubectl edit`. */
const FIELD_MANAGER = 'kubectl-fluxqueue';
const FORMATS = ['table', 'name', 'json', 'yaml'] as const;

interface QueueOptions extends Scope {
  readonly allNamespaces: boolean;
  readonly all: boolean;
  readonly queue?: string;
  readonly output: (typeof FORMATS)[number];
}

export function addWorkloadCommands(program: Command): void {
  scoped(program.command('queue'))
    .description('print what runs and waits, in the order of the line')
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('--all', 'also what has ended', false)
    .option('--queue <name>', 'of this queue only')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(FORMATS).default('table'))
    .action(printQueue);
  named(program, 'why', 'say why a workload waits, who is ahead of it, and what became of it').action(
    printWhy,
  );
  named(program, 'when', 'say when a workload starts').action(printWhen);
  named(program, 'hold', 'keep a workload from starting').action(hold);
  named(program, 'release', 'let a held workload start').action(release);
  named(program, 'cancel', 'delete a workload').action(cancel);
  named(program, 'priority', 'set the priority of a waiting workload')
    .argument('<number>', 'higher first', whole)
    .action(setPriority);
}

function scoped(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig)')
    .option('--context <name>', 'context of the kubeconfig');
}

function named(program: Command, name: string, description: string): Command {
  return scoped(program.command(name))
    .description(description)
    .argument('<workload>', 'name, job/name or pod/name');
}

function whole(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number.');
}

async function printQueue(options: QueueOptions): Promise<void> {
  const found = await inNamespace(options, async (client, namespace) => {
    const path = fluxJobs(options.allNamespaces ? undefined : namespace);
    return (await client.list<FluxJobObject>(path)).items;
  });
  const shown = found.filter(
    ({ spec, status }) =>
      (options.all || status?.phase !== 'Finished') &&
      (options.queue === undefined || spec.queue === options.queue),
  );
  write(...linesOf(options, shown));
}

function linesOf(
  { output, allNamespaces }: QueueOptions,
  found: readonly FluxJobObject[],
): readonly string[] {
  const items = inLine(found).map(shownObject);
  const list = { apiVersion: 'v1', kind: 'List', items };
  if (output === 'json') return [JSON.stringify(list, null, 2)];
  if (output === 'yaml') return [stringify(list).trimEnd()];
  if (output === 'name') return items.map(nameOf);
  if (found.length === 0) return ['nothing runs or waits'];
  return queueLines(found, { namespaces: allNamespaces, now: Date.now() });
}

/** Without the bookkeeping of fields, which kubectl does not print either. */
function shownObject({ metadata, ...fluxJob }: FluxJobObject): FluxJobObject {
  const { managedFields: _, ...shown } = metadata as typeof metadata & { readonly managedFields?: unknown };
  return { ...fluxJob, metadata: shown };
}

function write(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

async function printWhy(text: string, scope: Scope): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const fluxJob = await findFluxJob(client, namespace, text);
    const { items } = await client.list<FluxJobObject>(fluxJobs(namespace));
    write(...whyLines({ fluxJob, all: items, now: Date.now() }));
  });
}

async function printWhen(text: string, scope: Scope): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    write(startSentence({ fluxJob: await findFluxJob(client, namespace, text), now: Date.now() }));
  });
}

function hold(text: string, scope: Scope): Promise<void> {
  return change(text, scope, () => ({ metadata: { annotations: { [HOLD]: 'true' } } }), 'held');
}

/** Also of a Job that is held because its manifest has `suspend: true`: admission takes `false` for the release then. */
function release(text: string, scope: Scope): Promise<void> {
  const none = { annotations: { [HOLD]: null }, labels: { [HOLD]: null } };
  const lifted = ({ metadata }: KubernetesObject) =>
    metadata.annotations?.[SUSPEND_ANNOTATION] === undefined
      ? { metadata: none }
      : { metadata: none, spec: { suspend: false } };
  return change(text, scope, lifted, 'released');
}

function setPriority(text: string, priority: number, scope: Scope): Promise<void> {
  const patch = { metadata: { annotations: { [PRIORITY]: `${priority}` } } };
  return change(text, scope, () => patch, `has priority ${priority}`);
}

async function change(
  text: string,
  scope: Scope,
  patchOf: (object: KubernetesObject) => object,
  done: string,
): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const { path, shown, object } = await findWorkload(client, namespace, text);
    await client.patch(path, patchOf(object), 'merge', { fieldManager: FIELD_MANAGER });
    write(`${shown} ${done}`);
  });
}

async function cancel(text: string, scope: Scope): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const { path, shown } = await findWorkload(client, namespace, text);
    await client.delete(path, { propagationPolicy: 'Background' });
    write(`${shown} cancelled`);
  });
}

interface Kind {
  readonly kind: string;
  readonly path: NamespacedPath;
  readonly words: readonly string[];
}

const KINDS: readonly Kind[] = [
  { kind: 'Job', path: jobs, words: ['job', 'jobs', 'job.batch', 'jobs.batch'] },
  { kind: 'Pod', path: pods, words: ['pod', 'pods', 'po'] },
];

/** The kinds that the text may mean, and the name. */
function parse(text: string): { readonly kinds: readonly Kind[]; readonly name: string } {
  const [word, name, ...more] = text.split('/');
  if (name === undefined) return { kinds: KINDS, name: text };
  const kinds = KINDS.filter(({ words }) => words.includes(word!.toLowerCase()));
  if (kinds.length > 0 && name !== '' && more.length === 0) return { kinds, name };
  throw new FluxqError('FLUXQ_WORKLOAD_NAME', 'is not the name of a workload', {
    field: 'workload',
    value: text,
    remedy: 'write its name, job/NAME or pod/NAME',
  });
}

async function findFluxJob(
  client: KubernetesClient,
  namespace: string,
  text: string,
): Promise<FluxJobObject> {
  const { kinds, name } = parse(text);
  for (const { kind } of kinds) {
    const found = await ifFound(client.get<FluxJobObject>(fluxJobs(namespace, fluxJobName(kind, name))));
    if (found !== undefined) return found;
  }
  throw new FluxqError('FLUXQ_WORKLOAD_UNKNOWN', `no FluxJob in namespace ${namespace} is about it`, {
    field: 'workload',
    value: text,
    remedy:
      'a new workload has one after a few seconds; see that the namespace has the label fluxqueue/enabled: "true", and that the name is right',
  });
}

async function findWorkload(client: KubernetesClient, namespace: string, text: string) {
  const { kinds, name } = parse(text);
  for (const { kind, path } of kinds) {
    const object = await ifFound(client.get<KubernetesObject>(path(namespace, name)));
    if (object !== undefined)
      return { path: path(namespace, name), shown: `${kind.toLowerCase()}/${name}`, object };
  }
  throw new FluxqError('FLUXQ_WORKLOAD_UNKNOWN', `namespace ${namespace} has no Job or Pod of this name`, {
    field: 'workload',
    value: text,
    remedy: 'kubectl fluxqueue queue lists what there is',
  });
}
