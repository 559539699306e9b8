/**
 * The assignment is the allocation in the form that pods need: it says which
 * pod index runs on which node. It is an annotation of the Job's pod template,
 * so it is short text (5,000 pods on 1,250 nodes with 60-character names take
 * 76 kB of the 256 kB limit for annotations), and one index can be looked up
 * without parsing the whole text, because the CEL admission policy does the
 * same lookup.
 *
 *     assignment = group *( ";" group )
 *     group      = START "/" STRIDE ":" node *( "," node )
 *
 * Each node of a group takes STRIDE consecutive pod indexes, the first node
 * from START on: `0/4:n1,n2;8/1:n3` puts 0-3 on n1, 4-7 on n2 and 8 on n3.
 *
 * A last group without nodes makes the assignment *open*: `0/4:n1;4/1:` says
 * that pods from index 4 on are not part of the gang and are queued one by one.
 *
 * A last part that is no group notes that the Job of a user also replaced pods that are being deleted, before the queue
 * wrote something else there (replacement-policy.ts): `0/4:n1;replaces-deleted`.
 *
 * A pinned pod keeps only its own part of the assignment: `4/1:n2`.
 *
 * Reading never fails: invalid text assigns no index.
 */
import { NODE_NAME_PATTERN } from '../../constructs/api/node-name';
import { FluxqError } from '../errors';
import { askOf } from '../jobspec/jobspec';
import { podSetsOf, podsOfSetsOn } from '../jobspec/pod-sets';
import { type NodePods, podsPerNode } from '../jobspec/pods-per-node';
import type { WorkloadRow } from '../queue/workload';
import type { PlacedSets } from './adapter';

/** A number of pods that run on one node. */
export interface AssignmentPart {
  readonly node: string;
  /** Whole, > 0. */
  readonly pods: number;
}

interface Group {
  readonly start: number;
  readonly stride: number;
  /** Node names, not split yet: a lookup needs the nodes of one group only. */
  readonly nodes: string;
}

/** Head of a group. With nine digits every sum is exact in CEL's int and in a JSON number. */
const HEAD = /^([0-9]{1,9})\/([1-9][0-9]{0,8})$/;
/** Node names are DNS subdomains. */
const NODE = new RegExp(NODE_NAME_PATTERN);

/**
 * Writes an assignment. Nodes with more pods get the lower indexes; nodes with
 * the same number of pods keep their order. The pods of a node that appears
 * twice are added up.
 * @throws FluxqError FLUXQ_ASSIGNMENT_INVALID for an empty list, a number of pods that is not
 *   a positive integer, or an invalid node name
 */
export function encodeAssignment(parts: readonly AssignmentPart[]): string {
  if (parts.length === 0) throw invalid('must have at least one node', parts);
  const podsOf = new Map<string, number>();
  for (const { node, pods } of parts) {
    if (!NODE.test(node)) throw invalid('is not a valid node name', node);
    if (!Number.isInteger(pods) || pods < 1)
      throw invalid(`number of pods on ${node} must be a positive integer`, pods);
    podsOf.set(node, (podsOf.get(node) ?? 0) + pods);
  }
  let start = 0;
  const texts: string[] = [];
  for (const [stride, nodes] of byStride(podsOf)) {
    texts.push(`${start}/${stride}:${nodes.join(',')}`);
    start += stride * nodes.length;
  }
  return texts.join(';');
}

/** Whether pods beyond it are queued one by one. */
export function isOpen(text = ''): boolean {
  return /[0-9]:(;|$)/.test(text);
}

/**
 * Makes an assignment open.
 * @param pods number of pods that the assignment covers; pods with higher indexes are queued one by one
 */
export function openAssignment(text: string, pods: number): string {
  return `${text};${pods}/1:`;
}

const REPLACES_DELETED = 'replaces-deleted';

/** Adds the note about the policy of the Job's user. */
export function withReplacementNote(text: string): string {
  return `${text};${REPLACES_DELETED}`;
}

export function hasReplacementNote(text: string): boolean {
  return text.split(';').at(-1) === REPLACES_DELETED;
}

export function withoutNotes(text: string): string {
  return hasReplacementNote(text) ? text.slice(0, -REPLACES_DELETED.length - 1) : text;
}

/** Whether this pod index is beyond the pods that an open assignment covers. */
export function isBeyondAssignment(text: string, index: number): boolean {
  return groupsOf(text).findLast(({ start }) => start <= index)?.nodes === '';
}

/** The node of this pod index; undefined if the assignment does not cover the index. */
export function nodeOfIndex(text: string, index: number): string | undefined {
  if (!Number.isInteger(index)) return undefined;
  const group = groupsOf(text).findLast(({ start }) => start <= index);
  if (group === undefined) return undefined;
  return nodeName(group.nodes.split(',')[Math.floor((index - group.start) / group.stride)]);
}

/** All nodes in the order of their pod indexes, with the number of pods on each. */
export function nodesOf(text: string): AssignmentPart[] {
  return groupsOf(text).flatMap(({ stride, nodes }) =>
    nodes.split(',').flatMap((node) => (NODE.test(node) ? [{ node, pods: stride }] : [])),
  );
}

/** The node that all pods run on; undefined if there are several nodes. */
export function soleNode(text: string): string | undefined {
  const groups = groupsOf(text);
  // A list of several nodes contains commas, so it is not a valid node name.
  return groups.length === 1 ? nodeName(groups[0]?.nodes) : undefined;
}

/** Skips groups with an invalid head. */
function groupsOf(text: string): Group[] {
  return text.split(';').flatMap((group) => {
    const colon = group.indexOf(':');
    const head = HEAD.exec(group.slice(0, Math.max(colon, 0)));
    if (head === null) return [];
    return [{ start: Number(head[1]), stride: Number(head[2]), nodes: group.slice(colon + 1) }];
  });
}

function byStride(podsOf: ReadonlyMap<string, number>): [number, string[]][] {
  const groups = new Map<number, string[]>();
  for (const [node, pods] of podsOf) {
    const nodes = groups.get(pods);
    if (nodes === undefined) groups.set(pods, [node]);
    else nodes.push(node);
  }
  return [...groups].sort(([a], [b]) => b - a);
}

function nodeName(text: string | undefined): string | undefined {
  return text !== undefined && NODE.test(text) ? text : undefined;
}

function invalid(message: string, value: unknown): FluxqError {
  return new FluxqError('FLUXQ_ASSIGNMENT_INVALID', message, {
    field: 'assignment',
    value,
    remedy: 'report this as a bug',
  });
}

const BETWEEN_SETS = '|';

/**
 * The places of each pod set, `SET=ASSIGNMENT|SET=ASSIGNMENT`; the name of a sole pod set is left out. It says how many pods of a
 * set a node has: which of them is there, the pods say.
 */
export function assignmentOfSets(row: Pick<WorkloadRow, 'allocation' | 'jobspec'>): string {
  const names = podSetsOf(row.jobspec)?.map(({ name }) => name) ?? [undefined];
  const textOf = (name: string | undefined) => {
    const parts = placementOf(row, name).filter(({ pods }) => pods > 0);
    return `${name ?? ''}=${encodeAssignment(parts)}`;
  };
  return names.map(textOf).join(BETWEEN_SETS);
}

/** What that text says. */
export function placementOfSets(text: string): readonly PlacedSets[] {
  const placed = new Map<string, { pods: number; readonly podSets: Record<string, number> }>();
  for (const part of text.split(BETWEEN_SETS)) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0));
    for (const { node, pods } of nodesOf(part.slice(equals + 1))) {
      const known = placed.get(node) ?? { pods: 0, podSets: {} };
      placed.set(node, { pods: known.pods + pods, podSets: { ...known.podSets, [name]: pods } });
    }
  }
  return [...placed].map(([node, part]) => ({ node, ...part }));
}

/**
 * The number of the workload's pods on each allocated node; empty while the row has no allocation.
 * @param set the pod set whose pods count, of a gang of several. @default - all of them
 */
export function placementOf(
  { allocation, jobspec }: Pick<WorkloadRow, 'allocation' | 'jobspec'>,
  set?: string,
): readonly NodePods[] {
  if (allocation === null) return [];
  if (podSetsOf(jobspec) === undefined) return podsPerNode(allocation, askOf(jobspec));
  return allocation.nodes.map((part) => {
    const pods = set === undefined ? podsOfSetsOn(part) : (part.podSets?.[set] ?? 0);
    return { node: part.name, pods };
  });
}
