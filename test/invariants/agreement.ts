import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import type { AllocatedNode, Allocation } from '../../runtime/resources/types';
import type { Invariant, Observation, SeenRow, Violation } from './observation';

const ADMITTED = 'fluxqueue/admitted';
const ASSIGNMENT = 'fluxqueue/assignment';
const GATE = 'fluxqueue';
/** Job ids from here on stand for pods that are not the queue's. */
const FOREIGN = 2 ** 52;
/** Seconds: a reservation further ahead lies behind pods that are not the queue's, and promises nothing. */
const FORESEEABLE = 365 * 24 * 3600;
/** Seconds a difference may last. */
const PATIENCE = 5;

/** Every difference that is there now. */
export function differences(seen: Observation): Violation[] {
  const found: Violation[] = [];
  const say = (invariant: Invariant, text: string) => found.push({ invariant, text });
  const objects = new Map<string, KubernetesObject>();
  for (const object of [...seen.jobs, ...seen.pods]) objects.set(object.metadata.uid, object);
  const held = new Map(seen.fluxion.jobs.map((job) => [job.jobid, job]));
  const there = new Set(seen.nodes.map(({ metadata }) => metadata.name));
  const expected = new Set<number>();
  for (const row of seen.rows) {
    if (row.phase === 'Finished') continue;
    expected.add(row.jobid);
    const object = objects.get(row.uid);
    if (object === undefined) say('I3', `${row.name} is ${row.phase} and its object is gone`);
    else if (row.phase === 'Waiting') waiting(row, object, held.get(row.jobid), say);
    else granted(onNodes(row, there), object, held.get(row.jobid), say);
  }
  for (const { jobid } of seen.fluxion.jobs)
    if (jobid < FOREIGN && !expected.has(jobid)) say('I3', `Fluxion holds job ${jobid} for nobody`);
  unknown(seen, say);
  misplaced(seen, say);
  return found;
}

type Say = (invariant: Invariant, text: string) => void;

function waiting(row: SeenRow, object: KubernetesObject, held: Allocation | undefined, say: Say): void {
  if (!isHeldBack(object) && !isOver(object)) say('I2', `${row.name} waits and its object is released`);
  if (isOver(object)) say('I3', `${row.name} waits and its object is over`);
  // What is held for it can only be a reservation, and those lie ahead.
  const promised = held !== undefined && held.start - row.submittedAt < FORESEEABLE;
  if (promised && row.estimatedStart === null)
    say('I2', `${row.name} waits without a reservation and Fluxion holds job ${row.jobid}`);
}

/** What it had on a node that is gone is nowhere else either; a pod that can't be taken back waits there for its end. */
function onNodes(row: SeenRow, there: ReadonlySet<string>): SeenRow {
  if (row.allocation === null) return row;
  const nodes = row.allocation.nodes.filter(({ name }) => there.has(name));
  return { ...row, allocation: { ...row.allocation, nodes } };
}

function granted(row: SeenRow, object: KubernetesObject, held: Allocation | undefined, say: Say): void {
  const { name, allocation, jobid } = row;
  if (allocation === null) say('I2', `${name} is ${row.phase} without an allocation`);
  else if (allocation.nodes.length === 0) return;
  else if (held === undefined) say('I2', `${name} is ${row.phase} and Fluxion does not hold job ${jobid}`);
  else if (unitsOf(held.nodes) !== unitsOf(allocation.nodes))
    say('I2', `${name} has ${unitsOf(allocation.nodes)} and Fluxion says ${unitsOf(held.nodes)}`);
  if (isOver(object)) say('I3', `${name} is over and is ${row.phase} all the same`);
  else if (isHeldBack(object)) say('I2', `${name} is ${row.phase} and its object is held back`);
  else if (allocation !== null) assigned(row, object, allocation, say);
}

/** Nodes may have been given back early: then the object names more than the row. */
function assigned({ name }: SeenRow, object: KubernetesObject, { nodes }: Allocation, say: Say): void {
  const template = (object as Job).spec.template;
  if (template === undefined) return;
  const text = template.metadata?.annotations?.[ASSIGNMENT] ?? '';
  const named = new Set(text.split(';').flatMap((group) => group.slice(group.indexOf(':') + 1).split(',')));
  for (const node of nodes)
    if (!named.has(node.name)) say('I2', `${name} has ${node.name} and its object says ${text}`);
}

/** Held back by admission, and no row of it. */
function unknown({ jobs, pods, rows }: Observation, say: Say): void {
  const known = new Set(rows.map(({ uid }) => uid));
  for (const object of [...jobs, ...pods]) {
    const { uid, name, labels, annotations, deletionTimestamp } = object.metadata;
    const ours = labels?.[ADMITTED] === 'true' && annotations?.[ASSIGNMENT] === undefined;
    if (ours && deletionTimestamp === undefined && !known.has(uid) && !isOver(object))
      say('I2', `${name} is admitted and has no row`);
  }
}

/** Live pods of a workload run where its row says, and only while it says so. */
function misplaced({ rows, pods, nodes }: Observation, say: Say): void {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const there = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const pod of pods) {
    const { nodeName } = pod.spec;
    if (nodeName === undefined || !there.has(nodeName) || isTerminal(pod)) continue;
    const row = byUid.get(pod.metadata.uid) ?? byUid.get(pod.metadata.ownerReferences?.[0]?.uid ?? '');
    if (row === undefined) continue;
    const granted = row.phase === 'Ready' || row.phase === 'Running' ? row.allocation : null;
    if (granted?.nodes.some(({ name }) => name === nodeName) !== true)
      say(
        'I3',
        `${pod.metadata.name} of ${row.name} (${row.phase}) runs on ${nodeName}, which it does not have`,
      );
  }
}

function isHeldBack(object: KubernetesObject): boolean {
  const { spec } = object as Job & Pod;
  return spec.suspend === true || spec.schedulingGates?.some(({ name }) => name === GATE) === true;
}

function isOver(object: KubernetesObject): boolean {
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

/** Differences that are still there after the time they may last. */
export class Lasting {
  private readonly since = new Map<string, number>();
  private readonly told = new Set<string>();

  /** @param at seconds @returns those that have lasted too long, each once */
  look(at: number, seen: readonly Violation[]): Violation[] {
    const now = new Set(seen.map(({ text }) => text));
    for (const text of this.since.keys()) if (!now.has(text)) this.since.delete(text);
    for (const text of now) if (!this.since.has(text)) this.since.set(text, at);
    const late = seen.filter(({ text }) => at - this.since.get(text)! > PATIENCE && !this.told.has(text));
    for (const { text } of late) this.told.add(text);
    return late;
  }

  /** Trouble that is not the controller's: the count begins anew. */
  reset(): void {
    this.since.clear();
  }
}
