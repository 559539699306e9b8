/** Drift: what the queue's records say, and what the cluster does. */
import { ADMITTED_LABEL, HOLD, JOB_UID_LABEL, SUSPEND_ANNOTATION } from '../../../constructs/api/labels';
import { fluxJobName } from '../../fluxjobs/status';
import { graphNode } from '../../jobspec/graph-nodes';
import { type FluxJobObject, fluxJobs } from '../../kubernetes/custom-resources';
import { ifFound } from '../../kubernetes/errors';
import { nodes } from '../../kubernetes/paths';
import type { Job, KubernetesObject, Node, Pod } from '../../kubernetes/types';
import { parseHostlist } from '../../resources/hostlist';
import { groupOf } from '../../workloads/group-member';
import { adapters } from '../../workloads/index';
import { isGated } from '../../workloads/pod';
import { podFacts } from '../../workloads/pod-facts';
import { POD_GROUP } from '../../workloads/pod-group';
import { type Context, counted, error, type Finding, listed, ok, secondsSince, warning } from './finding';
import { somebodyLeads } from './leader';
import { podsOfQueue } from './namespaces';

/** Seconds after which what waits has its record. */
const RECORDED_SECONDS = 60;

interface Waiting {
  readonly kind: string;
  readonly object: KubernetesObject;
}

const nameOf = ({ kind, object: { metadata } }: Waiting) =>
  `${kind.toLowerCase()}/${metadata.name} in ${metadata.namespace}`;

/** What waits in the queue by its own state: suspended Jobs and gated pods. */
async function waitingOf({ reader }: Context): Promise<readonly Waiting[]> {
  const [admittedJobs, ofKinds, admittedPods] = await Promise.all([
    reader.admittedJobs(),
    reader.admittedOfKinds(),
    reader.admittedPods(),
  ]);
  const owners = new Set(ofKinds.flatMap(([, objects]) => objects.map(({ metadata }) => metadata.uid)));
  // A pod of a group, or of another workload, has the record of that.
  const isOfOther = (pod: Pod) =>
    groupOf(pod) !== undefined || owners.has(podFacts.owner(pod)?.uid ?? pod.metadata.uid);
  return [
    ...admittedJobs.filter(waitsAsJob).map((object) => ({ kind: 'Job', object }) as const),
    ...ofKinds.flatMap(([kind, objects]) =>
      objects
        .filter((object) => adapters.get(kind.kind)!.isSuspended(object))
        .map((object) => ({ kind: kind.kind, object })),
    ),
    ...admittedPods
      .filter((pod) => isGated(pod) && podFacts.workloadKey(pod)?.kind === 'Pod' && !isOfOther(pod))
      .map((object) => ({ kind: 'Pod', object }) as const),
  ];
}

function waitsAsJob({ spec, metadata, status }: Job): boolean {
  const hasEnded = status?.conditions?.some(
    ({ type, status: holds }) => /^(Complete|Failed)$/.test(type) && holds === 'True',
  );
  return spec.suspend === true && metadata.deletionTimestamp === undefined && hasEnded !== true;
}

export async function checkWaiting(context: Context): Promise<readonly Finding[]> {
  const { reader, now } = context;
  // The records first: what is read later may have been made since.
  const records = await reader.fluxJobs();
  const waiting = await waitingOf(context);
  const unrecorded = withoutRecord(waiting, records, now);
  if (unrecorded.length === 0)
    return [ok(`${counted(waiting.length, 'workload')} waiting, none for over a minute without its FluxJob`)];
  // Without a controller nothing gets a record, and the check of leftovers says so.
  if (!(await somebodyLeads(context))) return [];
  return [
    error(
      `${counted(unrecorded.length, 'workload')} waiting for over a minute without a FluxJob: ${listed(unrecorded.map(nameOf))}`,
      `read the controller's log for their names: kubectl -n ${context.namespace} logs deployment/fluxqueue-controller -c controller`,
    ),
  ];
}

/**
 * Those that have no FluxJob and should have one: one whose name is that of pods of a deleted workload, which hold its nodes, waits
 * for their end.
 * @internal exported for tests
 */
export function withoutRecord(
  waiting: readonly Waiting[],
  records: readonly FluxJobObject[],
  now: number,
): readonly Waiting[] {
  const key = (namespace: string | undefined, name: string, uid: string) => `${namespace}/${name}/${uid}`;
  const recorded = new Set(
    records.map(({ metadata, spec }) => key(metadata.namespace, metadata.name, spec.workload.uid)),
  );
  const inUse = new Set(
    records
      .filter(({ status }) => /^(Ready|Running)$/.test(`${status?.phase}`))
      .map(({ metadata }) => key(metadata.namespace, metadata.name, '')),
  );
  return waiting.filter(({ kind, object: { metadata } }) => {
    const { namespace, name, uid, creationTimestamp } = metadata;
    const isOld = secondsSince(creationTimestamp, now) > RECORDED_SECONDS;
    const record = fluxJobName(kind, name);
    return isOld && !recorded.has(key(namespace, record, uid)) && !inUse.has(key(namespace, record, ''));
  });
}

export async function checkRecords(context: Context): Promise<readonly Finding[]> {
  const { reader, now } = context;
  const records = await reader.fluxJobs();
  const [admittedJobs, ofKinds, admittedPods] = await Promise.all([
    reader.admittedJobs(),
    reader.admittedOfKinds(),
    reader.admittedPods(),
  ]);
  const objects = [...admittedJobs, ...ofKinds.flatMap(([, each]) => each), ...admittedPods];
  // Pods that outlive their Job (`--cascade=orphan`) keep its grant, and with it its FluxJob.
  const left = (await podsOfQueue(context)).filter((pod) => podFacts.usedNode(pod) !== undefined);
  const living = new Set([
    ...objects.map(({ metadata }) => metadata.uid),
    ...left.flatMap((pod) => podFacts.workloadUids(pod)),
  ]);
  const groups = new Set(admittedPods.map((pod) => `${pod.metadata.namespace}/${groupOf(pod)}`));
  const isThere = ({ metadata, spec: { workload } }: FluxJobObject) =>
    workload.kind === POD_GROUP
      ? groups.has(`${metadata.namespace}/${workload.name}`)
      : living.has(workload.uid);
  const suspects = records.filter(
    (record) =>
      `${record.status?.phase}` !== 'Finished' &&
      !isThere(record) &&
      secondsSince(record.metadata.creationTimestamp, now) > RECORDED_SECONDS,
  );
  // A workload that was deleted while the lists were read takes its record along.
  const remaining = await Promise.all(
    suspects.map(async ({ metadata }) => {
      const found = await ifFound(
        reader.client.get<FluxJobObject>(fluxJobs(metadata.namespace, metadata.name)),
      );
      return found?.metadata.uid === metadata.uid && `${found.status?.phase}` !== 'Finished'
        ? [metadata]
        : [];
    }),
  );
  const gone = remaining.flat().map(({ namespace, name }) => `${namespace}/${name}`);
  if (gone.length === 0)
    return [ok(`${counted(records.length, 'FluxJob')}, none of a workload that is gone`)];
  return [
    warning(
      `the workloads of ${counted(gone.length, 'FluxJob')} are gone, or have lost the label fluxqueue/admitted: ${listed(gone)}`,
      'delete these FluxJobs; the queue looks for lost workloads by itself every few minutes',
    ),
  ];
}

export async function checkGrants(context: Context): Promise<readonly Finding[]> {
  const records = await context.reader.fluxJobs();
  const astray = podsOffGrant(await podsOfQueue(context), records, context.now);
  if (astray.length === 0) return [ok('every pod of a running workload is on a node that was granted to it')];
  const shown = astray.map(
    ({ metadata, spec }) => `${metadata.namespace}/${metadata.name} on ${spec.nodeName}`,
  );
  return [
    error(
      `${counted(astray.length, 'pod')} not on a granted node: ${listed(shown)}`,
      'delete these pods: their Jobs make others, which are pinned; their use of the nodes is counted meanwhile',
    ),
  ];
}

/** Pods of running workloads on nodes that their FluxJob does not name. @internal exported for tests */
export function podsOffGrant(
  all: readonly Pod[],
  records: readonly FluxJobObject[],
  now: number,
): readonly Pod[] {
  const granted = new Map(
    records.flatMap(({ spec, status }) => {
      const names = status?.nodes === undefined ? undefined : parseHostlist(status.nodes);
      // A list that was cut names only some of them.
      const isWhole = names !== undefined && names.length === status?.nodeCount;
      return isWhole && /^(Ready|Running)$/.test(`${status?.phase}`)
        ? [[spec.workload.uid, new Set(names)] as const]
        : [];
    }),
  );
  return all.filter(({ metadata, spec, status }) => {
    const { labels = {}, uid, creationTimestamp } = metadata;
    // The status of a FluxJob may be some seconds behind a new grant.
    if (secondsSince(creationTimestamp, now) <= RECORDED_SECONDS) return false;
    // A pod of an elastic Job beyond its gang is a workload of its own, which the label says.
    const owner = podFacts.owner({ metadata, spec })?.uid ?? '';
    const own = labels[ADMITTED_LABEL] === 'true' ? uid : (labels[JOB_UID_LABEL] ?? uid);
    const allowed = granted.get(owner) ?? granted.get(own);
    const hasEnded =
      /^(Succeeded|Failed)$/.test(status?.phase ?? '') || metadata.deletionTimestamp !== undefined;
    return allowed !== undefined && spec.nodeName !== undefined && !hasEnded && !allowed.has(spec.nodeName);
  });
}

export async function checkNodes({ reader }: Context): Promise<readonly Finding[]> {
  return nodeFindings(await reader.list<Node>(nodes()));
}

/** @internal exported for tests */
export function nodeFindings(all: readonly Node[]): readonly Finding[] {
  const down = all.filter((node) => !graphNode(node, {}).up);
  const up = all.length - down.length;
  if (up === 0)
    return [error('the queue has no node that takes pods', 'add a node, or make one Ready and uncordon it')];
  if (down.length === 0) return [ok(`the queue grants all ${counted(up, 'node')}`)];
  const shown = down.map(
    ({ metadata, spec }) => `${metadata.name} (${spec.unschedulable ? 'cordoned' : 'not Ready'})`,
  );
  return [
    warning(
      `the queue grants ${up} of ${counted(all.length, 'node')}, not ${listed(shown)}`,
      'kubectl uncordon NAME for a cordoned node; kubectl describe node NAME says why another is not Ready',
    ),
  ];
}

/** What waits while nobody leads: the rest of a stack that was deleted, or a controller that is down. */
export async function checkLeftovers(context: Context): Promise<readonly Finding[]> {
  const waiting = (await waitingOf(context)).filter(({ object }) => !isHeldByUser(object));
  if (waiting.length === 0 || (await somebodyLeads(context))) return [];
  const hasController = (await context.reader.deployments()).length > 0;
  return [
    error(
      `${counted(waiting.length, 'workload')} waiting for a queue that nobody runs: ${listed(waiting.map(nameOf))}`,
      hasController
        ? 'bring a controller up (see the findings about it), and they start in their order'
        : `apply the stack again, or start them without it: kubectl fluxqueue uninstall --release --namespace ${context.namespace}`,
    ),
  ];
}

function isHeldByUser({ metadata: { labels, annotations } }: KubernetesObject): boolean {
  const hold = annotations?.[HOLD] ?? labels?.[HOLD];
  return hold === 'true' || (annotations?.[SUSPEND_ANNOTATION] === 'true' && hold !== 'false');
}
