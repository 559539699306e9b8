/**
 * The assignment: the allocation as pods see it, which pod index runs on which
 * node. It travels as an annotation of the Job's pod template, so it is text,
 * short (5,000 pods on 1,250 nodes with 60-character names take 76 kB of the
 * 256 kB that annotations may have) and one index is found in it without
 * parsing it whole: the same lookup is done in CEL by the admission policy.
 *
 *     assignment = group *( ";" group )
 *     group      = START "/" STRIDE ":" node *( "," node )
 *
 * Each node of a group takes STRIDE consecutive pod indexes, the first node
 * from START on: `0/4:n1,n2;8/1:n3` puts 0-3 on n1, 4-7 on n2 and 8 on n3.
 *
 * A last group without nodes leaves the assignment *open*: `0/4:n1;4/1:` says
 * that pods from index 4 on are no part of it and wait for places of their own.
 *
 * A pinned pod keeps its own place of it only: `4/1:n2`.
 *
 * Readers are total: text that is no assignment covers no index.
 */
import { FluxqError } from '../errors';
import { askOf } from '../jobspec/jobspec';
import { type NodePods, podsPerNode } from '../jobspec/pods-per-node';
import type { WorkloadRow } from '../queue/workload';

/** So many pods of the workload run on this node. */
export interface AssignmentPart {
  readonly node: string;
  /** Whole, > 0. */
  readonly pods: number;
}

interface Group {
  readonly start: number;
  readonly stride: number;
  /** Not split yet: a lookup needs the nodes of one group only. */
  readonly nodes: string;
}

/** Head of a group. Nine digits keep every sum within what CEL's int and JSON's number hold exactly. */
const HEAD = /^([0-9]{1,9})\/([1-9][0-9]{0,8})$/;
/** Node names are DNS subdomains. */
const NODE = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Nodes with more pods get the lower indexes; nodes with equally many keep
 * their order. A node that is named twice gets the sum.
 * @throws FluxqError FLUXQ_ASSIGNMENT_INVALID for an empty list, a number of pods that is not
 *   whole and positive, or a name that no node can have
 */
export function encodeAssignment(parts: readonly AssignmentPart[]): string {
  if (parts.length === 0) throw invalid('needs at least one node', parts);
  const podsOf = new Map<string, number>();
  for (const { node, pods } of parts) {
    if (!NODE.test(node)) throw invalid('is not the name of a node', node);
    if (!Number.isInteger(pods) || pods < 1)
      throw invalid(`number of pods on ${node} must be whole and > 0`, pods);
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

/** @param pods that this assignment has places for: those beyond have none in it */
export function leftOpen(text: string, pods: number): string {
  return `${text};${pods}/1:`;
}

/** Whether this pod index is no part of an open assignment. */
export function isBeyond(text: string, index: number): boolean {
  return groupsOf(text).findLast(({ start }) => start <= index)?.nodes === '';
}

/** The node that this pod index runs on; none when the assignment does not cover it. */
export function nodeOfIndex(text: string, index: number): string | undefined {
  if (!Number.isInteger(index)) return undefined;
  const group = groupsOf(text).findLast(({ start }) => start <= index);
  if (group === undefined) return undefined;
  return nodeName(group.nodes.split(',')[Math.floor((index - group.start) / group.stride)]);
}

/** All nodes in the order of their pod indexes, with how many pods each. */
export function nodesOf(text: string): AssignmentPart[] {
  return groupsOf(text).flatMap(({ stride, nodes }) =>
    nodes.split(',').flatMap((node) => (NODE.test(node) ? [{ node, pods: stride }] : [])),
  );
}

/** The one node that every pod runs on; none when there are several. */
export function soleNode(text: string): string | undefined {
  const groups = groupsOf(text);
  // A list of several nodes has commas, and so is no name.
  return groups.length === 1 ? nodeName(groups[0]?.nodes) : undefined;
}

/** Groups whose head can't be read are passed over. */
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

function invalid(what: string, value: unknown): FluxqError {
  return new FluxqError('FLUXQ_ASSIGNMENT_INVALID', what, {
    field: 'assignment',
    value,
    remedy: 'report it: an allocation never makes this',
  });
}

/** Empty while the row has no allocation. */
export function placementOf(row: Pick<WorkloadRow, 'allocation' | 'jobspec'>): readonly NodePods[] {
  return row.allocation === null ? [] : podsPerNode(row.allocation, askOf(row.jobspec));
}
