/** What ran in a simulation, and what was evicted. */
import { parseIdset } from '../../../runtime/resources/idset';
import type { Allocation } from '../../../runtime/resources/types';

export interface Start {
  readonly uid: string;
  readonly start: number;
  /** When it ended, if it has. */
  end?: number;
  readonly allocation: Allocation;
}

/** An eviction that a pass asked for. */
export interface Eviction {
  readonly uid: string;
  readonly message: string;
  readonly at: number;
  /** When its pods were gone, or it had ended by itself. */
  gone?: number;
}

/** Units that two workloads held at the same time; empty if there are none. */
export function doubleGrants(started: readonly Start[]): string[] {
  const doubled: string[] = [];
  const spans = new Map<string, { uid: string; start: number; end: number }[]>();
  for (const { uid, start, end = Number.POSITIVE_INFINITY, allocation } of started) {
    for (const unit of unitsIn(allocation)) {
      const before = spans.get(unit) ?? [];
      const clash = before.find((other) => other.start < end && start < other.end);
      if (clash !== undefined) doubled.push(`${unit}: ${clash.uid} and ${uid}`);
      spans.set(unit, [...before, { uid, start, end }]);
    }
  }
  return doubled;
}

function unitsIn({ nodes }: Allocation): string[] {
  return nodes.flatMap(({ name, units }) =>
    Object.entries(units).flatMap(([type, ids]) => parseIdset(ids).map((id) => `${name}/${type}${id}`)),
  );
}
