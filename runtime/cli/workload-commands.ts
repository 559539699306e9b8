/**
 * The commands about workloads, which users run with their own kubeconfig and rights, also as `kubectl fluxqueue queue`. They read FluxJobs,
 * and change what users may change themselves: an annotation of the workload, or the workload.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { ADMITTED_LABEL, HOLD, PRIORITY, SUSPEND_ANNOTATION } from '../../constructs/api/labels';
import { plain } from '../columns';
import { scheduled } from '../fluxjobs/reading';
import type { Reason } from '../fluxjobs/status';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject } from '../kubernetes/types';
import { settingOf } from '../workloads/settings';
import { deletionOf } from './deletion';
import { addDrainCommand } from './drain-command';
import { freeNodes } from './free-nodes';
import { type Wish, wishingMiniCluster } from './makers';
import type { Picture } from './picture';
import { priorityOfJob } from './priority-factors';
import { addQueueCommand } from './queue-command';
import { leftHeld, leftQueue, requeueSteps } from './requeue';
import { show } from './show';
import { isSuspended, suspension } from './suspension';
import { takesJobs } from './takes-jobs';
import { addTopCommand } from './top-command';
import { hasQueue, requireInstalled } from './unknown-workload';
import { requireGoingOn, requireWaiting } from './waiting';
import { type Asked, LEFT_LINE, movedLines, waitsForOthers, whenLines, whyLines } from './why';
import { FIELD_MANAGER, inNamespace, type Scope, scoped } from './with-client';
import { findDeletable, findFluxJob, findWorkload, kindForms, ofEach } from './workload-names';

const HELD: Reason = 'Held';

interface WatchOptions extends Scope {
  readonly watch: boolean;
}

export function addWorkloadCommands(program: Command): void {
  addQueueCommand(program);
  addTopCommand(program);
  addDrainCommand(program);
  named(program, 'why', 'say why a workload waits, who is ahead of it, and what became of it')
    .option('-w, --watch', 'say it again when it changes, until the workload has ended', false)
    .action(printWhy);
  named(program, 'when', 'say when a workload starts')
    .option('-w, --watch', 'say it again when it changes, until the workload has started', false)
    .action(printWhen);
  named(program, 'hold', 'keep a workload from starting').action(hold);
  named(program, 'release', 'let a held workload start').action(release);
  named(
    program,
    'requeue',
    'take a running Job or JobSet (or another workload kind) off its nodes and let it wait in its queue again',
  ).action(requeue);
  named(program, 'cancel', 'delete a workload').action(cancel);
  named(program, 'priority', 'set the priority of a waiting workload')
    .argument('<number>', 'higher first', whole)
    .action(setPriority);
}

function named(program: Command, name: string, description: string): Command {
  return scoped(program.command(name))
    .description(description)
    .argument(
      '<workload>',
      `name, job/name, pod/name, podgroup/name, ${kindForms('name')}, mc/name or fj/name`,
    );
}

function whole(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number.');
}

function printWhy(text: string, options: WatchOptions): Promise<void> {
  const say = (asked: Asked) => ({
    lines: whyLines(asked),
    done: asked.fluxJob.status?.phase === 'Finished',
  });
  return showWorkload(text, options, say, async (client, fluxJob) => {
    // They would be old when the workload changes.
    const isOnce = !options.watch && waitsForOthers(fluxJob);
    const [free, priority] = isOnce
      ? await Promise.all([freeNodes(client), priorityOfJob(client, fluxJob)])
      : [];
    const { namespace } = fluxJob.metadata;
    const hasLeft = scheduled(fluxJob).reason === HELD && (await hasQueue(client, namespace!)) === false;
    return { ...(free !== undefined && { free }), ...(priority !== undefined && { priority }), hasLeft };
  });
}

function printWhen(text: string, options: WatchOptions): Promise<void> {
  return showWorkload(text, options, (asked) => ({
    lines: whenLines(asked),
    done: asked.fluxJob.status?.startTime !== undefined || asked.fluxJob.status?.phase === 'Finished',
  }));
}

interface Said {
  readonly lines: readonly string[];
  readonly done: boolean;
}

async function showWorkload(
  text: string,
  { watch, ...scope }: WatchOptions,
  say: (asked: Asked) => Said,
  evidence: (
    client: KubernetesClient,
    fluxJob: FluxJobObject,
  ) => Promise<Pick<Asked, 'free' | 'hasLeft' | 'priority'>> = async () => ({}),
): Promise<void> {
  let promised: string | undefined;
  const sayAll = (asked: Asked): Said => {
    const { lines, done } = say(asked);
    const moved = movedLines(promised, asked);
    promised ??= asked.fluxJob.status?.estimatedStart;
    return { lines: [...lines, ...moved], done };
  };
  await inNamespace(scope, async (client, namespace) => {
    const found = await findFluxJob(client, namespace, text);
    const { uid } = found.metadata;
    const more = await evidence(client, found);
    const deletion = await deletionOf(client, found);
    await show<{ readonly fluxJobs: FluxJobObject }>(
      client,
      { fluxJobs: { path: fluxJobs(namespace) } },
      ({ fluxJobs }) => {
        const fluxJob = fluxJobs.find(({ metadata }) => metadata.uid === uid);
        return picture(
          fluxJob === undefined
            ? { lines: [`${text} was deleted`], done: true }
            : sayAll({ fluxJob, all: fluxJobs, now: Date.now(), ...deletion, ...more }),
        );
      },
      { watch },
    );
  });
}

/** A text that is printed as a whole when a part of it changes. */
function picture({ lines, done }: Said): Picture {
  const text = lines.map(plain).join('\n');
  return { rows: [{ key: 'text', cells: [text], state: text }], done };
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function hold(text: string, scope: Scope): Promise<void> {
  const held = { metadata: { annotations: { [HOLD]: 'true' } } };
  return change(text, scope, (shown, object) => {
    requireWaiting(shown, object, 'a hold keeps only what waits from starting');
    return { patch: held, wish: { suspend: true }, done: 'held' };
  });
}

/** Also of a Job that is held because its manifest has `suspend: true`: admission takes `false` for the release then. */
function release(text: string, scope: Scope): Promise<void> {
  const none = { annotations: { [HOLD]: null }, labels: { [HOLD]: null } };
  return change(text, scope, async (shown, object, client) => {
    const { metadata } = object;
    if (metadata.labels?.[ADMITTED_LABEL] !== 'true') return resume(shown, object);
    requireGoingOn(shown, object);
    const hasLeft = (await hasQueue(client, metadata.namespace!)) === false;
    const after = hasLeft ? LEFT_LINE : whySentence(object);
    const released = { wish: { suspend: false }, done: `released; ${after}` };
    if (metadata.annotations?.[SUSPEND_ANNOTATION] !== undefined)
      return { patch: { metadata: none, ...suspension(shown, false) }, ...released };
    return settingOf(metadata, HOLD) === 'true'
      ? { patch: { metadata: none }, ...released }
      : { done: hasLeft ? `is not held; ${after}` : 'is not held' };
  });
}

/** The queue decides what comes next, a moment later. */
function whySentence({ metadata: { name, namespace } }: KubernetesObject): string {
  return `kubectl fluxqueue why ${name} -n ${namespace} says what it waits for`;
}

/** What the queue has handed back, or never had. */
function resume(shown: string, object: KubernetesObject): Change {
  if (!isSuspended(shown, object)) return { done: 'is not in the queue' };
  const done = 'resumed; it is not in the queue';
  return { patch: suspension(shown, false), wish: { suspend: false }, done };
}

function setPriority(text: string, priority: number, scope: Scope): Promise<void> {
  const patch = { metadata: { annotations: { [PRIORITY]: `${priority}` } } };
  return change(text, scope, (shown, object) => {
    requireWaiting(shown, object, 'a priority orders only what waits');
    // Its queue may have a narrower range, which only the controller knows of all queues.
    return { patch, wish: { priority }, done: `asks for priority ${priority}` };
  });
}

interface Change {
  /** @default - nothing has to change */
  readonly patch?: object;
  /** The same, as a MiniCluster says it. @default - no MiniCluster can undo it */
  readonly wish?: Wish;
  readonly done: string;
}

/** @param changeOf throws if the change would have no effect */
async function change(
  text: string,
  scope: Scope,
  changeOf: (shown: string, object: KubernetesObject, client: KubernetesClient) => Change | Promise<Change>,
): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const { paths, shown, object } = await findWorkload(client, namespace, text);
    if (object.metadata.labels?.[ADMITTED_LABEL] !== 'true') await requireInstalled(client, namespace);
    const { patch, wish, done } = await changeOf(shown, object, client);
    const cluster = wish && (await wishingMiniCluster(client, namespace, object, wish));
    const target = cluster === undefined ? { paths, shown, patch } : { ...cluster, patch: { spec: wish } };
    await ofEach(target.patch === undefined ? [] : target.paths, (path) =>
      client.patch(path, target.patch!, 'merge', { fieldManager: FIELD_MANAGER }),
    );
    write(`${target.shown} ${done}`);
  });
}

/** By two updates, as its user could make them: the queue takes the nodes back meanwhile, or afterwards. */
async function requeue(text: string, scope: Scope): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const { path, shown, object } = await findWorkload(client, namespace, text);
    const [suspend, lift] = requeueSteps(shown, object);
    if (!(await takesJobs(client, namespace))) throw leftQueue(shown);
    const patch = (step: object) => client.patch(path, step, 'merge', { fieldManager: FIELD_MANAGER });
    await patch(suspend);
    try {
      await patch(lift);
    } catch (error) {
      throw leftHeld(shown, namespace, error);
    }
    write(`${shown} requeued; ${whySentence(object)}`);
  });
}

async function cancel(text: string, scope: Scope): Promise<void> {
  await inNamespace(scope, async (client, namespace) => {
    const { paths, shown, object } = await findDeletable(client, namespace, text);
    await ofEach(paths, (path) => client.delete(path, { propagationPolicy: 'Background' }));
    write(`${shown} cancelled${shown.startsWith('pod') ? madeAgain(object) : ''}`);
  });
}

/** Controllers keep as many pods as they are told. */
function madeAgain(pod: KubernetesObject): string {
  const owner = controllerOf(pod);
  if (owner === undefined) return '';
  const scaled = owner.kind === 'ReplicaSet' ? 'its Deployment' : 'it';
  return `; ${owner.kind.toLowerCase()}/${owner.name} makes it again: scale ${scaled} down or delete it to end that`;
}
