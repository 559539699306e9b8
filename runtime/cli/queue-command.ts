/** The command `queue`, which users run with their own kubeconfig and rights, also as `kubectl fluxqueue queue`. */
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { nameOf } from '../fluxjobs/reading';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import type { Picture } from './picture';
import { chosen, type Filter, isShown, queuePicture, requireNames } from './queue-table';
import { show } from './show';
import { emptySentence } from './unknown-workload';
import { inNamespace, type Scope, scoped } from './with-client';
import { kindForms, type MeantWorkload, parseWorkload } from './workload-names';
import {
  deletedAmong,
  deletedSources,
  type FoundObject,
  foundObjects,
  makerSources,
  type QueueObjects,
  usersOf,
  workloadSources,
} from './workload-objects';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

interface QueueOptions extends Scope {
  readonly allNamespaces: boolean;
  readonly all: boolean;
  readonly queue?: string;
  readonly selector?: string;
  readonly output: (typeof FORMATS)[number];
  readonly watch: boolean;
}

export function addQueueCommand(program: Command): void {
  scoped(program.command('queue'))
    .description('print what runs and waits, in the order of the line')
    .argument(
      '[workloads...]',
      `only these, also if they have ended: name, job/name, pod/name, ${kindForms('name')}, mc/name or fj/name`,
    )
    .option('-A, --all-namespaces', 'of all namespaces', false)
    .option('--all', 'also what has ended', false)
    .option('--queue <name>', 'of this queue only')
    .option('-l, --selector <labels>', 'of workloads with these labels only, as kubectl reads them')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(FORMATS).default('table'))
    .option('-w, --watch', 'go on to print what changes, until Ctrl-C', false)
    .action(printQueue);
}

async function printQueue(texts: readonly string[], options: QueueOptions): Promise<void> {
  const { allNamespaces, queue, selector, output, watch } = options;
  const names = texts.map(parseWorkload);
  const isTable = output === 'table' || output === 'wide';
  await inNamespace(options, async (client, namespace) => {
    const scope = allNamespaces ? undefined : namespace;
    const nothing = await emptySentence(client, scope);
    const which = `${queue === undefined ? '' : ` of queue ${queue}`}${selector === undefined ? '' : ' with these labels'}`;
    const empty = nothing.replace('nothing', `nothing${which}`);
    const needsUsers = output === 'wide';
    const sources = {
      fluxJobs: { path: fluxJobs(scope) },
      ...(needsUsers || selector !== undefined
        ? workloadSources(scope, selector)
        : isTable
          ? deletedSources(scope)
          : {}),
      ...(needsUsers ? makerSources(scope) : {}),
    };
    return show<QueueObjects>(
      client,
      sources,
      ({ fluxJobs: existing, ...objects }) => {
        const workloads = foundObjects(existing, objects);
        const fluxJobs = isTable ? [...existing, ...deletedAmong(workloads, existing)] : existing;
        const filter = filterOf(options, names, workloads);
        if (!watch) requireNames(fluxJobs, names, scope);
        const others = queuesBeside(fluxJobs, filter);
        if (!isTable) return objectsPicture(fluxJobs, filter, options);
        const users = needsUsers ? { users: usersOf(workloads) } : {};
        return queuePicture(fluxJobs, {
          ...filter,
          ...users,
          namespaces: allNamespaces,
          now: Date.now(),
          empty: others === '' ? empty : `${empty}; what there is has ${others}`,
        });
      },
      { watch, stream: !isTable },
    );
  });
}

function filterOf(
  { all, queue, selector }: QueueOptions,
  names: readonly MeantWorkload[],
  workloads: readonly FoundObject[],
): Filter {
  return {
    all,
    ...(queue !== undefined && { queue }),
    ...(names.length > 0 && { names }),
    ...(selector !== undefined && { uids: new Set(workloads.map(({ uid }) => uid)) }),
  };
}

/** The queues of the other workloads, where a queue of a name that none has was asked for. */
function queuesBeside(fluxJobs: readonly FluxJobObject[], { all, queue }: Filter): string {
  if (queue === undefined || fluxJobs.some(({ spec }) => spec.queue === queue)) return '';
  const others = fluxJobs.filter((fluxJob) => isShown(fluxJob, { all })).map(({ spec }) => spec.queue);
  const names = [...new Set(others)].sort();
  return names.length === 0 ? '' : `the queue${names.length > 1 ? 's' : ''} ${names.join(', ')}`;
}

/** Once, `json` and `yaml` are a list; a watch prints one object after the other. */
function objectsPicture(
  fluxJobs: readonly FluxJobObject[],
  filter: Filter,
  { output, watch }: QueueOptions,
): Picture {
  const found = chosen(fluxJobs, filter);
  if (output === 'name' || watch) {
    const textOf = { name: nameOf, json: jsonOf, yaml: yamlOf }[output as 'name' | 'json' | 'yaml'];
    return {
      rows: found.map((fluxJob) => ({
        key: fluxJob.metadata.uid,
        cells: [textOf(fluxJob)],
        state: fluxJob.metadata.resourceVersion,
        hidden: !isShown(fluxJob, filter),
      })),
    };
  }
  const items = found.filter((fluxJob) => isShown(fluxJob, filter)).map(shownObject);
  const list = { apiVersion: 'v1', kind: 'List', items };
  const text = output === 'json' ? JSON.stringify(list, null, 2) : stringify(list).trimEnd();
  return { rows: [{ key: 'list', cells: [text], state: text }] };
}

const jsonOf = (fluxJob: FluxJobObject) => JSON.stringify(shownObject(fluxJob));
const yamlOf = (fluxJob: FluxJobObject) => `---\n${stringify(shownObject(fluxJob)).trimEnd()}`;

/** Without the bookkeeping of fields, which kubectl does not print either. */
function shownObject({ metadata, ...fluxJob }: FluxJobObject): FluxJobObject {
  const { managedFields: _, ...shown } = metadata as typeof metadata & { readonly managedFields?: unknown };
  return { ...fluxJob, metadata: shown };
}
