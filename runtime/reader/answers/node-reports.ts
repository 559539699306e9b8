/** `list nodereports`: what Kubernetes, the rows and the leader's Fluxion say about each node. */
import { lastingTaints } from '../../jobspec/graph-nodes';
import type { Node } from '../../kubernetes/types';
import type { StoredView } from '../../queue/leader-view';
import type { Allocation, GraphNode, UnitCounts } from '../../resources/types';
import { countsOf } from '../../resources/unit-counts';
import { type NodeReport, type NodeReportList, READ_API } from '../kinds';
import type { ReadResource } from '../resource';
import { answered } from './answered';
import type { Cluster, ReadModel } from './read-model';

export function nodeReports(model: ReadModel): ReadResource {
  return {
    name: 'nodereports',
    singular: 'nodereport',
    kind: 'NodeReport',
    namespaced: false,
    verbs: ['list'],
    async answer(request): Promise<NodeReportList> {
      const { rows, leader, cluster } = await model.world(['nodes', 'pods']);
      const stored = await leader.view();
      await rows.refresh();
      const why = withoutFluxion(stored);
      const view = why === undefined ? stored?.view : undefined;
      const held = [...rows.active()].flatMap(({ allocation }) => (allocation === null ? [] : [allocation]));
      const facts = {
        cluster,
        used: unitsByNode(held),
        reserved: firstByNode((stored?.view.reservations ?? []).map(({ allocation }) => allocation)),
        unmanaged: cluster.unmanaged.usage(),
        fluxion: new Map(view?.nodes.map((node) => [node.name, node])),
        drift: view?.drift ?? {},
      };
      const nodes = [...cluster.nodes.graphNodes().values()];
      const known = new Set(nodes.map(({ name }) => name));
      const others = [...facts.fluxion.keys()].filter((name) => !known.has(name));
      const items = [...nodes, ...others.map((name): GraphNode => ({ name, units: {}, up: false }))]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((node) => reportOf(node, facts));
      return {
        ...answered('NodeReportList', request),
        unitSizes: model.unitSizes,
        items,
        ...(why !== undefined && { withoutFluxion: why }),
      };
    },
  };
}

/** Why Fluxion's own view is missing; undefined: it is there. */
export function withoutFluxion(stored: StoredView | undefined): string | undefined {
  if (stored === undefined)
    return 'no leader answered in time; see whether a controller leads (kubectl fluxqueue doctor), then ask again';
  const { stale } = stored.view;
  return stale === undefined
    ? undefined
    : `the leader does not schedule with Fluxion at this moment (${stale}); ask again, or read the log of the controller`;
}

interface Facts {
  readonly cluster: Pick<Cluster, 'informers'>;
  readonly used: ReadonlyMap<string, UnitCounts>;
  readonly reserved: ReadonlyMap<string, UnitCounts>;
  readonly unmanaged: ReadonlyMap<string, UnitCounts>;
  readonly fluxion: ReadonlyMap<string, StoredView['view']['nodes'][number]>;
  readonly drift: StoredView['view']['drift'];
}

const NONE: UnitCounts = {};

function reportOf({ name, units, up }: GraphNode, facts: Facts): NodeReport {
  const used = facts.used.get(name) ?? NONE;
  const unmanaged = facts.unmanaged.get(name) ?? NONE;
  const has = facts.fluxion.get(name);
  return {
    apiVersion: READ_API,
    kind: 'NodeReport',
    metadata: { name },
    ...(up === false && { down: downText(facts.cluster.informers.nodes.get(name)) }),
    units,
    used,
    reserved: facts.reserved.get(name) ?? NONE,
    unmanaged,
    free: minus(minus(units, used), unmanaged),
    ...(has && { fluxion: { up: has.up, total: has.total, free: has.free } }),
    drift: facts.drift[name] ?? [],
  };
}

function downText(node: Node | undefined): string {
  if (node === undefined) return 'the cluster has no node of this name';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (ready !== 'True') return `the node is not ready (Ready is ${ready ?? 'not reported'})`;
  if (node.spec.unschedulable === true) return 'the node is cordoned';
  const lasting = new Set(lastingTaints(node).map(({ key }) => key));
  const taints = (node.spec.taints ?? []).map(({ key }) => key).filter((key) => !lasting.has(key));
  return `the node has a taint about its state (${taints.join(', ')})`;
}

function unitsByNode(allocations: readonly Allocation[]): ReadonlyMap<string, UnitCounts> {
  const units = new Map<string, UnitCounts>();
  for (const { nodes } of allocations)
    for (const node of nodes) units.set(node.name, plus(units.get(node.name) ?? NONE, countsOf(node.units)));
  return units;
}

/** The units of the earliest allocation on each node. */
function firstByNode(allocations: readonly Allocation[]): ReadonlyMap<string, UnitCounts> {
  const units = new Map<string, UnitCounts>();
  for (const { nodes } of allocations.toSorted((a, b) => a.start - b.start))
    for (const node of nodes) if (!units.has(node.name)) units.set(node.name, countsOf(node.units));
  return units;
}

function plus(a: UnitCounts, b: UnitCounts): UnitCounts {
  return Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((type) => [
      type,
      (a[type] ?? 0) + (b[type] ?? 0),
    ]),
  );
}

function minus(a: UnitCounts, b: UnitCounts): UnitCounts {
  return Object.fromEntries(
    Object.entries(a).map(([type, count]) => [type, Math.max(0, count - (b[type] ?? 0))]),
  );
}
