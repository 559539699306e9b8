/** What is free on which nodes, for those who may read that: evidence of `why`. */

import { ask, nodeReports, type ReadApiClient } from '../kubernetes/read-api';
import type { NodeReport, NodeReportList } from '../reader/kinds';
import { hostlistOf } from '../resources/hostlist';
import { groupBy } from './group-by';
import { counted } from './output';
import { amountsText, unitTypes } from './unit-amounts';
import { withoutReadApi } from './without-read-api';

/** A line names so many kinds of free nodes. */
const MOST_NAMED = 4;

/** The nodes that are up and have something free; those with most first. */
export function freeSentence({ items, unitSizes }: NodeReportList): string {
  const up = items.filter(({ down, free }) => down === undefined && Object.values(free).some((n) => n > 0));
  if (up.length === 0) return 'no node has anything free';
  const types = unitTypes(
    up.map(({ free }) => free),
    unitSizes,
  );
  const kinds = groupBy(up, ({ free }) => amountsText(free, types));
  const sorted = [...kinds].toSorted(([, [a]], [, [b]]) => compareFree(b!, a!, types));
  const named = sorted.slice(0, MOST_NAMED).map(([amounts, nodes]) => {
    const names = hostlistOf(nodes.map(({ metadata }) => metadata.name ?? ''));
    return `${names} ${nodes.length > 1 ? 'have' : 'has'} ${amounts}${nodes.length > 1 ? ' each' : ''}`;
  });
  const more = sorted.slice(MOST_NAMED).reduce((sum, [, nodes]) => sum + nodes.length, 0);
  return `free now: ${[...named, ...(more > 0 ? [`less on ${counted(more, 'more node')}`] : [])].join('; ')}`;
}

function compareFree(a: NodeReport, b: NodeReport, types: readonly { readonly type: string }[]): number {
  for (const { type } of types) {
    const difference = (a.free[type] ?? 0) - (b.free[type] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** @returns undefined if this user cannot see nodes, or nobody answers */
export async function freeNodes(client: ReadApiClient): Promise<string | undefined> {
  const request = { timeout: 5_000, retries: 0 };
  const answer = await withoutReadApi(() =>
    ask<NodeReportList>(client, { verb: 'list', path: nodeReports(), scope: 'the whole cluster', request }),
  );
  return answer && freeSentence(answer);
}
