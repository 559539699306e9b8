/** A FluxionSync over the embedded matcher, with rows that hold cores. */
import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import type { Fluxion } from '../../runtime/fluxion/types';
import { createLogger } from '../../runtime/observability/log';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { GraphNode, UnitCounts, UnitIds } from '../../runtime/resources/types';
import { type DesiredState, FluxionSync } from '../../runtime/scheduler/fluxion-sync';
import { submission } from '../queue/submission';

export const NOW = 1_000;

export const nodes = (...list: readonly GraphNode[]) => new Map(list.map((node) => [node.name, node]));
export const N0: GraphNode = { name: 'n0', units: { core: 2 } };
export const N1: GraphNode = { name: 'n1', units: { core: 2 } };

export function holding(jobid: number, node: string, units: UnitIds): WorkloadRow {
  const allocation = { jobid, start: NOW, end: NOW + 60, nodes: [{ name: node, units }] };
  return { ...newRow(submission(`w${jobid}`), jobid), phase: 'Running', allocation };
}

export const holder = (jobid: number, node: string, core: string) => holding(jobid, node, { core });

export function desired(over: Partial<DesiredState> = {}): DesiredState {
  return { now: NOW, nodes: nodes(N0, N1), holders: [], unmanaged: new Map(), reservations: [], ...over };
}

export const using = (usage: Readonly<Record<string, UnitCounts>>) => new Map(Object.entries(usage));

export function create(over: Partial<Fluxion> = {}) {
  const fluxion: Fluxion = Object.assign(embeddedFluxion(), over);
  const causes: string[] = [];
  const logger = createLogger('test', 'silent');
  const graph = new FluxionSync({
    fluxion,
    policy: 'first',
    fence: 1,
    logger,
    onRebuild: (cause) => causes.push(cause),
  });
  const free = async () =>
    Object.fromEntries((await fluxion.state()).nodes.map((node) => [node.name, node.free.core ?? 0]));
  return { graph, fluxion, causes, free };
}
