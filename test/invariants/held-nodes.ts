/**
 * Checks what a running Job holds at its tail: no node on which none of its pods will run again, and no fewer than its pods need.
 * What the Job controller still makes is read from the Job here, and not by the code of the runtime, which has to agree.
 */
import { COMPLETION_INDEX_ANNOTATION, GANG_SIZE, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { parseConfig } from '../../runtime/config';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import { countIdset, parseIdset } from '../../runtime/resources/idset';
import { isBeyondAssignment, isOpen, nodeOfIndex, nodesOf } from '../../runtime/workloads/assignment';
import type { Observation, SeenRow, Violation } from './observation';
import { coresOf } from './pod-cores';

const ASSIGNMENT = 'fluxqueue/assignment';
const GATE = 'fluxqueue';
const CORE_UNITS = 1000 / parseConfig({}).units.cpuMillis;

/** What is known of a grant that runs. */
interface Held {
  readonly row: SeenRow;
  readonly job: Job;
  readonly assignment: string;
  /** Node -> pods that it was granted there and still is. */
  readonly slots: ReadonlyMap<string, number>;
  /** Pods of the grant that have not ended. */
  readonly live: readonly Pod[];
  /** Indexes of the grant that may have a pod once more; undefined without indexes. */
  readonly openIndexes: readonly number[] | undefined;
  /** Tasks that have not ended for good. */
  readonly open: number;
}

export function heldNodeViolations(seen: Pick<Observation, 'rows' | 'jobs' | 'pods' | 'nodes'>): Violation[] {
  const nodes = new Map(seen.nodes.map((node) => [node.metadata.name, node]));
  return heldBy(seen).flatMap((held) => [...keptTooLong(held, nodes), ...freedTooEarly(held, nodes)]);
}

type Nodes = ReadonlyMap<string, Node>;

function heldBy({ rows, jobs, pods }: Pick<Observation, 'rows' | 'jobs' | 'pods'>): readonly Held[] {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const podsOf = Map.groupBy(pods, ({ metadata }) => metadata.ownerReferences?.[0]?.uid);
  return jobs.flatMap((job) => {
    const row = byUid.get(job.metadata.uid);
    const annotations = job.spec.template.metadata?.annotations ?? {};
    const isOver = job.metadata.deletionTimestamp !== undefined || (job.status?.conditions?.length ?? 0) > 0;
    if (row?.phase !== 'Running' || row.evictionReason !== null || isOver || job.spec.suspend === true)
      return [];
    if (annotations[JOBID_ANNOTATION] !== String(row.jobid)) return [];
    return [heldOf(row, job, annotations[ASSIGNMENT] ?? '', podsOf.get(row.uid) ?? [])];
  });
}

function heldOf(row: SeenRow, job: Job, assignment: string, pods: readonly Pod[]): Held {
  const { completions = 1, completionMode, template } = job.spec;
  const { completedIndexes = '', failedIndexes = '', succeeded = 0 } = job.status ?? {};
  const perPod = coresOf(template as Pod);
  const slots = new Map(
    row.allocation!.nodes.map(({ name, units }) => [
      name,
      Math.floor(countIdset(units.core ?? '') / CORE_UNITS / perPod),
    ]),
  );
  // The pods of an elastic Job beyond its gang have grants of their own.
  const isGranted = (index: number) => !isBeyondAssignment(assignment, index);
  const live = pods.filter(
    ({ metadata, status }) =>
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed' &&
      isGranted(Number(metadata.annotations?.[COMPLETION_INDEX_ANNOTATION])),
  );
  const ended = new Set([...parseIdset(completedIndexes), ...parseIdset(failedIndexes)]);
  const all = Array.from({ length: completions }, (_, index) => index).filter(isGranted);
  const openIndexes = completionMode === 'Indexed' ? all.filter((index) => !ended.has(index)) : undefined;
  const open = openIndexes?.length ?? completions - succeeded;
  return { row, job, assignment, slots, live, openIndexes, open };
}

function keptTooLong(
  { row, job, assignment, slots, live, openIndexes, open }: Held,
  nodes: Nodes,
): Violation[] {
  // The last node goes with the end of the Job, and what an elastic gang was granted comes again when it grows.
  if (slots.size < 2 || live.some(isGated) || job.metadata.annotations?.[GANG_SIZE] !== undefined) return [];
  const areAllThere = live.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length >= open;
  const assigned = nodesOf(assignment).reduce((sum, { pods }) => sum + pods, 0);
  const arePinned = openIndexes?.every((index) => index < assigned) === true;
  if (!areAllThere && !arePinned) return [];
  const used = new Set(live.map(nodeOf));
  const awaited = new Set(openIndexes?.map((index) => nodeOfIndex(assignment, index)));
  return [...slots.keys()]
    .filter((name) => nodes.has(name) && !used.has(name) && !awaited.has(name))
    .map((name) => violation(`${row.name} holds ${name}, on which no pod of it will run again`));
}

function freedTooEarly(
  { row, job, assignment, slots, live, openIndexes, open }: Held,
  nodes: Nodes,
): Violation[] {
  const start = row.allocation!.start;
  // A node that was lost since is not granted again when it comes back.
  const stays = (name: string) => {
    const node = nodes.get(name);
    return node !== undefined && Date.parse(node.metadata.creationTimestamp) / 1000 < start;
  };
  const assigned = nodesOf(assignment);
  const granted = assigned.filter(({ node }) => stays(node));
  const needed = new Set([
    ...live.map(nodeOf),
    ...(openIndexes ?? []).map((index) => nodeOfIndex(assignment, index)),
  ]);
  const found = granted
    .filter(({ node }) => needed.has(node) && !slots.has(node))
    .map(({ node }) => violation(`${row.name} has given ${node} back, where a pod of it runs or will run`));
  // A pod that is pinned to a lost node gets no other place.
  if (granted.length < assigned.length) return found;
  const { parallelism = 1 } = job.spec;
  const most = granted.reduce((sum, { pods }) => sum + pods, 0);
  const has = granted.reduce((sum, { node }) => sum + (slots.get(node) ?? 0), 0);
  const wants = Math.min(parallelism, open, most);
  if (has < wants) found.push(violation(`${row.name} has ${has} places for ${wants} pods`));
  return found;
}

/** Whether an elastic Job holds its last node for none of its pods: those beyond its gang are queued one by one. */
export function hasEndedGang(job: Job | undefined): boolean {
  const assignment = job?.spec.template.metadata?.annotations?.[ASSIGNMENT] ?? '';
  if (!isOpen(assignment)) return false;
  const { completedIndexes = '', failedIndexes = '' } = job?.status ?? {};
  const ended = new Set([...parseIdset(completedIndexes), ...parseIdset(failedIndexes)]);
  const gang = nodesOf(assignment).reduce((sum, { pods }) => sum + pods, 0);
  return Array.from({ length: gang }, (_, index) => index).every((index) => ended.has(index));
}

function violation(text: string): Violation {
  return { invariant: 'held', text };
}

function isGated({ spec }: Pod): boolean {
  return spec.schedulingGates?.some(({ name }) => name === GATE) === true;
}

function nodeOf({ spec }: Pod): string | undefined {
  const [term] =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return spec.nodeName ?? term?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0];
}
