/** Compares the three views of the workloads: rows in Postgres, objects of the apiserver, and jobs in Fluxion (I2, I3). */
import type { Job, KubernetesObject, Node, Pod } from '../../runtime/kubernetes/types';
import { formatIdset, parseIdset } from '../../runtime/resources/idset';
import type { AllocatedNode, Allocation, UnitCounts } from '../../runtime/resources/types';
import { nodesOf } from '../../runtime/workloads/assignment';
import type { Invariant, Observation, SeenRow, Violation } from './observation';
import { sizeViolations } from './sizes';

const ADMITTED = 'fluxqueue/admitted';
const ASSIGNMENT = 'fluxqueue/assignment';
const STAGED = 'staged';
const GATE = 'fluxqueue';
/** Job ids from here on stand for unmanaged pods. */
const FIRST_UNMANAGED_JOBID = 2 ** 52;
/** Seconds that a difference may last: a watch that lags for 3 s, and two answers in a row that take 2.5 s each. */
const TOLERATED_SECONDS = 8;

/** All differences of an observation. */
export function differences(seen: Observation): Violation[] {
  const found: Violation[] = [];
  const report = (invariant: Invariant, text: string) => found.push({ invariant, text });
  const objects = new Map<string, KubernetesObject>();
  for (const object of [...seen.jobs, ...seen.pods]) objects.set(object.metadata.uid, object);
  const held = new Map(seen.fluxion.jobs.map((job) => [job.jobid, job]));
  checkRows(seen, objects, held, report);
  const expected = new Set(seen.rows.filter(isActive).map(({ jobid }) => jobid));
  for (const { jobid } of seen.fluxion.jobs)
    if (jobid < FIRST_UNMANAGED_JOBID && !expected.has(jobid))
      report('I3', `Fluxion holds job ${jobid} without a row`);
  missingRows(seen, report);
  checkPods(seen, report);
  checkSlots(seen, report);
  return [...found, ...sizeViolations(seen)];
}

function checkRows(
  { rows, pods, nodes, fluxion }: Observation,
  objects: ReadonlyMap<string, KubernetesObject>,
  held: ReadonlyMap<number, Allocation>,
  report: Report,
): void {
  const existing = new Set(nodes.map(({ metadata }) => metadata.name));
  const terminating = new Set(pods.filter(isTerminating).map(workloadUid));
  const totals = new Map(fluxion.nodes.map(({ name, total }) => [name, total]));
  for (const row of rows.filter(isActive)) {
    const object = objects.get(row.uid);
    const isStopped = object === undefined || isSuspended(object);
    // A workload holds its units until its pods are gone: some need long to terminate.
    if (isStopped && row.phase !== 'Waiting' && terminating.has(row.uid)) continue;
    if (object === undefined) report('I3', `${row.name} is ${row.phase} and its object does not exist`);
    else if (row.phase === 'Waiting') checkWaiting(row, object, held.get(row.jobid), report);
    else checkGranted(onExistingNodes(row, existing, totals), object, held.get(row.jobid), report);
  }
}

function isActive({ phase }: SeenRow): boolean {
  return phase !== 'Finished';
}

type Report = (invariant: Invariant, text: string) => void;

const RESERVED_REASONS: ReadonlySet<SeenRow['reason']> = new Set(['Reserved', 'QuotaExceeded']);

function checkWaiting(
  row: SeenRow,
  object: KubernetesObject,
  held: Allocation | undefined,
  report: Report,
): void {
  if (!isSuspended(object) && !isFinished(object) && !isStaged(object))
    report('I2', `${row.name} waits and its object is released`);
  if (isFinished(object)) report('I3', `${row.name} waits and its object has finished`);
  // A waiting workload can only have a reservation in Fluxion: for nodes, or for the time at which its quota has room.
  if (held !== undefined && !RESERVED_REASONS.has(row.reason))
    report('I2', `${row.name} waits without a reservation and Fluxion holds job ${row.jobid}`);
}

/**
 * The allocation as Fluxion can hold it: without removed nodes, where an unevictable pod waits for its end, and without
 * the units beyond its node that a workload gets which was adopted on a node without free units.
 */
function onExistingNodes(
  row: SeenRow,
  existing: ReadonlySet<string>,
  totals: ReadonlyMap<string, UnitCounts>,
): SeenRow {
  if (row.allocation === null) return row;
  const nodes = row.allocation.nodes
    .filter(({ name }) => existing.has(name))
    .map((node) => ({ ...node, units: clipped(node.units, totals.get(node.name)) }))
    .filter(({ units }) => Object.keys(units).length > 0);
  return { ...row, allocation: { ...row.allocation, nodes } };
}

function clipped(units: AllocatedNode['units'], total: UnitCounts | undefined): AllocatedNode['units'] {
  if (total === undefined) return units;
  const kept = Object.entries(units).map(([type, ids]) => {
    const there = parseIdset(ids).filter((id) => id < (total[type] ?? 0));
    return [type, formatIdset(there)] as const;
  });
  return Object.fromEntries(kept.filter(([, ids]) => ids !== ''));
}

function checkGranted(
  row: SeenRow,
  object: KubernetesObject,
  held: Allocation | undefined,
  report: Report,
): void {
  const { name, allocation, jobid } = row;
  if (allocation === null) report('I2', `${name} is ${row.phase} without an allocation`);
  else if (allocation.nodes.length === 0) return;
  else if (held === undefined) report('I2', `${name} is ${row.phase} and Fluxion does not hold job ${jobid}`);
  else if (unitsOf(held.nodes) !== unitsOf(allocation.nodes))
    report('I2', `${name} has ${unitsOf(allocation.nodes)} and Fluxion has ${unitsOf(held.nodes)}`);
  if (isFinished(object)) report('I3', `the object of ${name} has finished and its row is ${row.phase}`);
  else if (isSuspended(object)) report('I2', `${name} is ${row.phase} and its object is suspended`);
  else if (allocation !== null) checkAssignment(row, object, allocation, report);
}

/** A Job that waits for another controller has pods, and the gate of the queue keeps them. */
function isStaged(object: KubernetesObject): boolean {
  const { template } = (object as Job).spec;
  return template?.metadata?.annotations?.[ASSIGNMENT]?.startsWith(STAGED) === true;
}

/** The row may have fewer nodes than the assignment of the object, because nodes are freed early. */
function checkAssignment(
  { name }: SeenRow,
  object: KubernetesObject,
  { nodes }: Allocation,
  report: Report,
): void {
  const template = (object as Job).spec.template;
  if (template === undefined) return;
  const text = template.metadata?.annotations?.[ASSIGNMENT] ?? '';
  // Its pods were there before it was granted nodes.
  if (text.startsWith(STAGED)) return;
  const named = new Set(text.split(';').flatMap((group) => group.slice(group.indexOf(':') + 1).split(',')));
  for (const node of nodes)
    if (!named.has(node.name))
      report('I2', `${name} has ${node.name} and the assignment of its object is ${text}`);
}

/** Reports admitted objects without a row. */
function missingRows({ jobs, pods, rows }: Observation, report: Report): void {
  const known = new Set(rows.map(({ uid }) => uid));
  for (const object of [...jobs, ...pods]) {
    const { uid, name, labels, annotations, deletionTimestamp } = object.metadata;
    const ours = labels?.[ADMITTED] === 'true' && annotations?.[ASSIGNMENT] === undefined;
    if (ours && deletionTimestamp === undefined && !known.has(uid) && !isFinished(object))
      report('I2', `${name} is admitted and has no row`);
  }
}

/** Reports running pods on nodes that are not in the allocation of their row. */
function checkPods({ rows, pods, nodes, enlarged }: Observation, report: Report): void {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const nodeOf = new Map(nodes.map((node) => [node.metadata.name, node]));
  for (const pod of pods) {
    const { nodeName } = pod.spec;
    const node = nodeOf.get(nodeName ?? '');
    if (node === undefined || isTerminal(pod)) continue;
    if (isGivenUp(pod, node)) continue;
    const row = byUid.get(pod.metadata.uid) ?? byUid.get(workloadUid(pod));
    if (row === undefined) continue;
    if (!mayRunOn(node, row, enlarged))
      report(
        'I3',
        `${pod.metadata.name} of ${row.name} (${row.phase}) runs on ${nodeName}, which is not in its allocation`,
      );
  }
}

/** Of those that may run anywhere while they have a grant, the check of sizes wants that it is shown and held. */
function mayRunOn({ metadata: { name } }: Node, row: SeenRow, enlarged: Observation['enlarged']): boolean {
  const granted = row.phase === 'Ready' || row.phase === 'Running' ? row.allocation : null;
  return (
    granted !== null && (enlarged?.has(row.uid) === true || granted.nodes.some((on) => on.name === name))
  );
}

/**
 * Reports nodes on which more pods of a Job run than its assignment has slots there (I1), also if kube-scheduler had room for
 * them. A pod with a row of its own has a grant of its own, and one that is being deleted gives its slot back.
 */
function checkSlots({ jobs, pods, rows, enlarged }: Observation, report: Report): void {
  const known = new Set(rows.map(({ uid }) => uid));
  const running = new Map<string, number>();
  for (const pod of pods) {
    if (isTerminal(pod) || isTerminating(pod) || known.has(pod.metadata.uid)) continue;
    const place = `${workloadUid(pod)} ${pod.spec.nodeName}`;
    running.set(place, (running.get(place) ?? 0) + 1);
  }
  for (const { metadata, spec } of jobs) {
    const text = spec.template?.metadata?.annotations?.[ASSIGNMENT];
    if (spec.suspend === true || text === undefined || enlarged?.has(metadata.uid) === true) continue;
    const slots = new Map(nodesOf(text).map(({ node, pods: count }) => [node, count]));
    for (const [node, count] of slots) {
      const there = running.get(`${metadata.uid} ${node}`) ?? 0;
      if (there > count) report('I1', `${metadata.name} has ${there} pods on ${node}, where it has ${count}`);
    }
  }
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value !== 'True') !== true;
}

/** Nothing reported whether the pod still runs, and its node may have come back since, or was created again. */
function isGivenUp(pod: Pod, node: Node): boolean {
  return isTerminating(pod) && (!isReady(node) || isOlder(pod, node) || wasSilent(pod, node));
}

/** Whether the node became ready again after the pod was deleted: `deletionTimestamp` is the end of its grace period. */
function wasSilent({ metadata }: Pod, { status }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = metadata;
  const deleted = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return Date.parse(ready?.lastTransitionTime ?? '') >= deleted;
}

function isOlder(pod: Pod, node: Node): boolean {
  return Date.parse(pod.metadata.creationTimestamp) < Date.parse(node.metadata.creationTimestamp);
}

function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod);
}

function workloadUid({ metadata }: Pod): string {
  return metadata.ownerReferences?.[0]?.uid ?? metadata.uid;
}

function isSuspended(object: KubernetesObject): boolean {
  const { spec } = object as Job & Pod;
  return spec.suspend === true || spec.schedulingGates?.some(({ name }) => name === GATE) === true;
}

function isFinished(object: KubernetesObject): boolean {
  const { status } = object as Job & Pod;
  const ended = status?.conditions?.some(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  );
  return ended === true || isTerminal(object as Pod);
}

function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function unitsOf(nodes: readonly AllocatedNode[]): string {
  const each = nodes.map(({ name, units }) => {
    const sorted = Object.entries(units).sort(([a], [b]) => (a < b ? -1 : 1));
    return `${name}(${sorted.map(([type, ids]) => `${type} ${ids}`).join(' ')})`;
  });
  return each.sort().join(' ');
}

/** Finds differences that last longer than tolerated. */
export class PersistentDifferences {
  private readonly since = new Map<string, number>();
  private readonly reported = new Set<string>();

  /** @param tolerated seconds that a difference may last */
  constructor(private readonly tolerated = TOLERATED_SECONDS) {}

  /** @param at seconds @returns the differences that have lasted too long, each one once */
  observe(at: number, seen: readonly Violation[]): Violation[] {
    const now = new Set(seen.map(({ text }) => text));
    for (const text of this.since.keys()) if (!now.has(text)) this.since.delete(text);
    for (const text of now) if (!this.since.has(text)) this.since.set(text, at);
    const late = seen.filter(
      ({ text }) => at - this.since.get(text)! > this.tolerated && !this.reported.has(text),
    );
    for (const { text } of late) this.reported.add(text);
    return late;
  }

  /** Restarts the tolerated time of all differences, during a fault of the cluster. */
  reset(): void {
    this.since.clear();
  }
}
