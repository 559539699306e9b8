/**
 * Bounds of what a FluxJob shows, so that it stays below 64 kB whatever its workload is: etcd keeps one per workload, and
 * every watcher of a namespace receives them all. With a jobspec of at most 32 KiB the parts fit.
 */
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import { cut, plain } from '../columns';

/** Characters; four or five conditions repeat the message. */
const LONGEST_MESSAGE = 1024;
const LONGEST_HOSTLIST = 8 * 1024;
/** Characters of the allocation as JSON: about 200 nodes. */
const LARGEST_ALLOCATION = 16 * 1024;

/** One line: messages quote names that users choose freely, such as those of claims and images. */
export function boundedMessage(message: string): string {
  return cut(plain(message), LONGEST_MESSAGE);
}

/** A hostlist that is too long ends in `,…` behind its last whole entry. */
export function boundedHostlist(hostlist: string): string {
  if (hostlist.length <= LONGEST_HOSTLIST) return hostlist;
  const start = hostlist.slice(0, hostlist.lastIndexOf(',', LONGEST_HOSTLIST));
  // The comma may be part of a range: a[0-3,7].
  const isOpen = start.lastIndexOf('[') > start.lastIndexOf(']');
  return `${start}${isOpen ? ']' : ''},…`;
}

/** The shortest entry of an allocation as JSON. */
const SHORTEST_ENTRY = 24;

/** Whether an allocation of so many nodes can be shown at all: one of thousands is not worth writing out. */
export function mayShowAllocation(nodes: number): boolean {
  return nodes * SHORTEST_ENTRY <= LARGEST_ALLOCATION;
}

/** Undefined if the allocation is too large: `nodes` and `nodeCount` tell what matters of it. */
export function boundedAllocation(
  allocation: NonNullable<FluxJobStatus['allocation']>,
): FluxJobStatus['allocation'] {
  return JSON.stringify(allocation).length > LARGEST_ALLOCATION ? undefined : allocation;
}
