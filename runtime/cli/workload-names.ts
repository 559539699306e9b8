/** Workloads by the names that users give them: `train`, `job/train`, `pod/train`, `mc/train`, `fj/train-job`. */
import { ADMITTED_LABEL, FLUXJOB_GROUP, HOLD } from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { joined } from '../columns';
import { FluxqError } from '../errors';
import { nameOf } from '../fluxjobs/reading';
import { fluxJobName } from '../fluxjobs/status';
import { awaitObject } from '../kubernetes/await-object';
import type { KubernetesClient } from '../kubernetes/client';
import { isTrue } from '../kubernetes/conditions';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { ifFound, isStatus } from '../kubernetes/errors';
import { kindPath } from '../kubernetes/kind-fields';
import { jobs, type NamespacedPath, pods } from '../kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import { isTerminal } from '../workloads/adapter';
import { groupOf } from '../workloads/group-member';
import { isGated } from '../workloads/pod';
import { byAge, POD_GROUP } from '../workloads/pod-group';
import { settingOf } from '../workloads/settings';
import { whyNoRecord } from './late-record';
import { MINICLUSTER_WORDS, makerNamed, makerOf, readMaker, wordsOf } from './makers';
import { deletedWorkload, unknownWorkload } from './unknown-workload';
import { hasEnded } from './waiting';

interface Kind {
  readonly kind: string;
  readonly path: NamespacedPath;
  readonly words: readonly string[];
  /** Whether the cluster may have no such kind, and its user no right to it. @default false */
  readonly mayBeUnknown?: boolean;
}

/** Of the record of a workload, as `kubectl get fluxjobs -o name` has it, too. */
const RECORD_WORDS = ['fj', 'fluxjob', 'fluxjobs', `fluxjob.${FLUXJOB_GROUP}`];
const KINDS: readonly Kind[] = [
  { kind: 'Job', path: jobs, words: ['job', 'jobs', 'job.batch', 'jobs.batch', ...MINICLUSTER_WORDS] },
  { kind: 'Pod', path: pods, words: ['pod', 'pods', 'po'] },
  { kind: POD_GROUP, path: pods, words: ['podgroup', 'podgroups', 'pg'] },
  ...WORKLOAD_KINDS.map((kind) => ({
    kind: kind.kind,
    path: kindPath(kind),
    words: [...wordsOf(kind), ...kind.words, ...(kind.maker === undefined ? [] : wordsOf(kind.maker))],
    mayBeUnknown: true,
  })),
];

/** Kinds whose objects are no workloads, but make some. */
const OWNERS: readonly { readonly kind: string; readonly of: string; readonly words: readonly string[] }[] = [
  { kind: 'Deployment', of: 'Pod', words: ['deploy', 'deployment', 'deployments', 'deployment.apps'] },
  { kind: 'ReplicaSet', of: 'Pod', words: ['rs', 'replicaset', 'replicasets', 'replicaset.apps'] },
  { kind: 'StatefulSet', of: 'Pod', words: ['sts', 'statefulset', 'statefulsets', 'statefulset.apps'] },
  { kind: 'CronJob', of: 'Job', words: ['cj', 'cronjob', 'cronjobs', 'cronjob.batch'] },
];

/** The forms of the workload kinds in a list: the first one stands for all. */
export function kindForms(name: string): string {
  return `${WORKLOAD_KINDS[0]!.kind.toLowerCase()}/${name} (or another workload kind)`;
}

export interface MeantWorkload {
  readonly kinds: readonly Kind[];
  readonly name: string;
  /** As its user wrote it. */
  readonly text: string;
  /** Whether it is the name of its FluxJob. @default false */
  readonly isRecord?: boolean;
}

/** The kinds that the text may mean, and the name. @throws FluxqError FLUXQ_WORKLOAD_NAME */
export function parseWorkload(text: string): MeantWorkload {
  const [word, name, ...more] = text.split('/');
  if (name === undefined && text !== '') return { kinds: KINDS, name: text, text };
  const kinds = KINDS.filter(({ words }) => words.includes(word!.toLowerCase()));
  const isRecord = RECORD_WORDS.includes(word!.toLowerCase());
  if ((kinds.length > 0 || isRecord) && name !== undefined && name !== '' && more.length === 0)
    return isRecord ? { kinds: KINDS, name, text, isRecord } : { kinds, name, text };
  const owner = OWNERS.find(({ words }) => words.includes(word!.toLowerCase()));
  if (owner !== undefined && name !== undefined)
    throw new FluxqError(
      'FLUXQ_WORKLOAD_NAME',
      `is not one workload: each ${owner.of} of a ${owner.kind} is one of its own`,
      {
        field: 'workload',
        value: text,
        remedy: `kubectl fluxqueue queue lists them: write ${owner.of.toLowerCase()}/NAME with one of these names`,
      },
    );
  throw new FluxqError('FLUXQ_WORKLOAD_NAME', 'is not the name of a workload', {
    field: 'workload',
    value: text,
    remedy: `write its name, job/NAME, pod/NAME, podgroup/NAME, ${kindForms('NAME')}, mc/NAME or fj/NAME`,
  });
}

/**
 * Like `parseWorkload`, and also `namespace/name`, if the namespace is not called like a kind.
 * @throws FluxqError FLUXQ_WORKLOAD_NAME
 */
export function parseAnyWorkload(text: string): MeantWorkload & { readonly namespace?: string } {
  const [namespace = '', name = '', ...more] = text.split('/');
  const words = [...KINDS.flatMap(({ words }) => words), ...RECORD_WORDS];
  const isKind = words.includes(namespace.toLowerCase());
  if (isKind || namespace === '' || name === '' || more.length > 0) return parseWorkload(text);
  return { kinds: KINDS, name, text, namespace };
}

export function isMeant({ kinds, name, isRecord }: MeantWorkload, fluxJob: FluxJobObject): boolean {
  const { workload } = fluxJob.spec;
  if (isRecord === true) return fluxJob.metadata.name === name;
  return workload.name === name && kinds.some(({ kind }) => kind === workload.kind);
}

export async function findFluxJob(
  client: KubernetesClient,
  namespace: string,
  text: string,
): Promise<FluxJobObject> {
  const { kinds, name, isRecord = false } = parseWorkload(text);
  const ofKinds = isRecord ? [] : kinds.map(({ kind }) => fluxJobName(kind, name));
  // `kubectl get fluxjobs` shows names of FluxJobs, which are copied as they are.
  for (const record of isRecord || !text.includes('/') ? [...ofKinds, name] : ofKinds) {
    const found = await ifFound(client.get<FluxJobObject>(fluxJobs(namespace, record)));
    if (found !== undefined) return isRecord ? found : ((await joinedGroup(client, found)) ?? found);
  }
  if (isRecord)
    throw await unknownWorkload(
      client,
      namespace,
      text,
      `namespace ${namespace} has no FluxJob of this name`,
      'kubectl get fluxjobs',
    );
  const late = await unrecorded(client, namespace, text);
  if (late !== undefined) return late;
  throw await unknownWorkload(client, namespace, text, `no FluxJob in namespace ${namespace} is about it`);
}

/** The FluxJob of the group that a pod has joined while it waited: its own says only that it waits alone no more. */
async function joinedGroup(
  client: KubernetesClient,
  { spec: { workload }, metadata: { namespace = '' }, status }: FluxJobObject,
): Promise<FluxJobObject | undefined> {
  if (workload.kind !== 'Pod' || status?.phase !== 'Finished') return undefined;
  const pod = await liveObject<Pod>(client, namespace, workload);
  const isOwn = typeof pod === 'object' && pod.metadata.uid === workload.uid;
  const group = isOwn ? groupOf(pod) : undefined;
  return group === undefined ? undefined : findFluxJob(client, namespace, `podgroup/${group}`);
}

/**
 * The object that has the name of a workload now: of the FluxJob's own uid, or a later one. Undefined: there is none. Unknown: its user may
 * not read it, or the workload is a group.
 */
export async function liveObject<K extends KubernetesObject>(
  client: KubernetesClient,
  namespace: string,
  { kind, name }: Pick<FluxJobObject['spec']['workload'], 'kind' | 'name'>,
): Promise<K | 'unknown' | undefined> {
  const path = KINDS.find((each) => each.kind === kind)?.path;
  if (path === undefined || kind === POD_GROUP) return 'unknown';
  try {
    return await ifFound(client.get<K>(path(namespace, name)));
  } catch (error) {
    if (isStatus(error, 403)) return 'unknown';
    throw error;
  }
}

/** Seconds: a FluxJob comes in well under one, unless many others of its namespace start and end. */
const RECORD_SECONDS = 10;

/**
 * The FluxJob of a workload that is in the queue and had none yet.
 * @throws FluxqError FLUXQ_WORKLOAD_UNKNOWN if it gets none on purpose, or not soon
 */
async function unrecorded(
  client: KubernetesClient,
  namespace: string,
  text: string,
): Promise<FluxJobObject | undefined> {
  const { name } = parseWorkload(text);
  for await (const { shown, object, kind } of namesakes<Job | Pod>(client, namespace, text)) {
    // A Job that was never in the queue has no FluxJob either.
    if (object.metadata.labels?.[ADMITTED_LABEL] !== 'true') continue;
    const group = kind === 'Pod' ? groupOf(object as Pod) : undefined;
    if (group !== undefined) return findFluxJob(client, namespace, `podgroup/${group}`);
    if (object.metadata.deletionTimestamp !== undefined)
      throw await deletedWorkload(client, namespace, text, name);
    const awaited = { name: fluxJobName(kind, name), seconds: RECORD_SECONDS };
    const record = hasSucceeded(object)
      ? undefined
      : await awaitObject<FluxJobObject>(client, fluxJobs(namespace), awaited);
    if (record !== undefined) return record;
    throw await notRecorded(client, object, shown, namespace, text);
  }
  return undefined;
}

async function notRecorded(
  client: KubernetesClient,
  object: Job | Pod,
  shown: string,
  namespace: string,
  text: string,
): Promise<FluxqError> {
  const { problem, remedy } = hasSucceeded(object)
    ? {
        problem: `${shown} has no FluxJob, because it succeeded soon, as many others of namespace ${namespace} did`,
        remedy: `kubectl fluxqueue history ${object.metadata.name} shows what happened to it`,
      }
    : await whyNoRecord(client, object, shown);
  return new FluxqError('FLUXQ_WORKLOAD_UNKNOWN', problem, { field: 'workload', value: text, remedy });
}

function hasSucceeded({ status }: Job | Pod): boolean {
  if (status !== undefined && 'phase' in status) return status.phase === 'Succeeded';
  return isTrue(status?.conditions, 'Complete');
}

/**
 * The workload that a command changes: of several of one name the one that is in the queue and has not ended.
 * @throws FluxqError FLUXQ_WORKLOAD_UNKNOWN, FLUXQ_WORKLOAD_NAME if it may be more than one
 */
export async function findWorkload(client: KubernetesClient, namespace: string, written: string) {
  const text = await workloadText(client, namespace, written);
  const all: Namesake<KubernetesObject>[] = [];
  for await (const each of namesakes<KubernetesObject>(client, namespace, text)) all.push(each);
  const queued = all.filter(
    ({ object }) => object.metadata.labels?.[ADMITTED_LABEL] === 'true' && !hasEnded(object),
  );
  const meant = queued.length > 0 ? queued : all;
  const [found, ...others] = meant;
  if (found === undefined)
    throw await unknownWorkload(
      client,
      namespace,
      text,
      `namespace ${namespace} has no workload of this name`,
    );
  if (others.length === 0) return found;
  const names = meant.map(({ shown }) => shown);
  throw new FluxqError('FLUXQ_WORKLOAD_NAME', 'is the name of several workloads', {
    field: 'workload',
    value: text,
    remedy: `write ${joined(names, 'or')}`,
  });
}

/** What `cancel` deletes: what would make the workload again, if there is such an object. */
export async function findDeletable(client: KubernetesClient, namespace: string, text: string) {
  const [word = '', name] = text.split('/');
  const named = name === undefined ? undefined : makerNamed(word);
  if (name === undefined || named === undefined) {
    const found = await findWorkload(client, namespace, text);
    const made = makerOf(found.object);
    return (made && (await readMaker(client, made.maker, namespace, made.name))) ?? found;
  }
  parseWorkload(text);
  const maker = await readMaker(client, named, namespace, name);
  if (maker !== undefined) return maker;
  const problem = `namespace ${namespace} has no ${named.kind} of this name`;
  throw await unknownWorkload(client, namespace, text, problem, `kubectl get ${named.plural}`);
}

/** The text, or the workload whose FluxJob it names. @throws FluxqError FLUXQ_WORKLOAD_UNKNOWN */
export async function workloadText(
  client: KubernetesClient,
  namespace: string,
  text: string,
): Promise<string> {
  const { isRecord } = parseWorkload(text);
  return isRecord === true ? nameOf(await findFluxJob(client, namespace, text)) : text;
}

/** Whoever may not list pods names them one by one. */
async function admittedPods(client: KubernetesClient, namespace: string): Promise<readonly Pod[]> {
  try {
    const { items } = await client.list<Pod>(pods(namespace), { labelSelector: `${ADMITTED_LABEL}=true` });
    return items;
  } catch (error) {
    if (isStatus(error, 403) || isStatus(error, 404)) return [];
    throw error;
  }
}

/** Writes all of a workload. Of a group, pods come and go. */
export async function ofEach(
  paths: readonly string[],
  write: (path: string) => Promise<unknown>,
): Promise<void> {
  for (const path of paths) await (paths.length === 1 ? write(path) : ifFound(write(path)));
}

/**
 * The pods of a group that have not ended, the oldest first: one that waits before the others, because it may still change,
 * and of these one that is held, because it holds all.
 */
async function membersOf(client: KubernetesClient, namespace: string, name: string): Promise<readonly Pod[]> {
  const items = await admittedPods(client, namespace);
  const own = items.filter((pod) => groupOf(pod) === name && !isTerminal(pod)).sort(byAge);
  const isHeld = ({ metadata }: Pod) => settingOf(metadata, HOLD) === 'true';
  const rankOf = (pod: Pod) => (isGated(pod) ? (isHeld(pod) ? 0 : 1) : 2);
  return own.sort((a, b) => rankOf(a) - rankOf(b));
}

/** An object that a text may mean. */
interface Namesake<K extends KubernetesObject> {
  readonly kind: string;
  readonly path: string;
  /** All of its pods, of a group. */
  readonly paths: readonly string[];
  /** As commands name it. */
  readonly shown: string;
  readonly object: K;
}

/** In the order of their kinds. */
async function* namesakes<K extends KubernetesObject>(
  client: KubernetesClient,
  namespace: string,
  text: string,
): AsyncGenerator<Namesake<K>> {
  const { kinds, name } = parseWorkload(text);
  const found = async (path: string, isOptional: boolean) => {
    try {
      const object = await ifFound(client.get<KubernetesObject>(path));
      return object === undefined ? [] : [object];
    } catch (error) {
      if (isOptional && isStatus(error, 403)) return [];
      throw error;
    }
  };
  let hasFound = false;
  for (const { kind, path, mayBeUnknown = false } of kinds) {
    const isOptional = (mayBeUnknown || hasFound) && kinds.length > 1;
    // To look for its pods is to list those of the namespace.
    const record = fluxJobs(namespace, fluxJobName(POD_GROUP, name));
    if (kind === POD_GROUP && hasFound && (await found(record, true)).length === 0) continue;
    const objects =
      kind === POD_GROUP
        ? await membersOf(client, namespace, name)
        : await found(path(namespace, name), isOptional);
    const [object] = objects as unknown as readonly K[];
    if (object === undefined) continue;
    hasFound = true;
    const paths = objects.map(({ metadata }) => path(namespace, metadata.name));
    yield { kind, path: paths[0]!, paths, shown: `${kind.toLowerCase()}/${name}`, object };
  }
}
