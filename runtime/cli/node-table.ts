/** What `nodes` shows: what of each node is free, used, reserved and used by others, and where Fluxion says something else. Pure functions. */

import { plain } from '../columns';
import { FluxqError } from '../errors';
import type { NodeReport, NodeReportList } from '../reader/kinds';
import { hostlistOf, parseHostlist } from '../resources/hostlist';
import type { UnitCounts } from '../resources/types';
import { addUnits } from '../resources/unit-counts';
import { byName } from './node-names';
import { counted, tableLines } from './output';
import { amountsText, type UnitType, unitTypes } from './unit-amounts';

export interface NodeTableOptions {
  /** With totals and the numbers of Fluxion. */
  readonly wide: boolean;
}

/** Only the nodes of these names and hostlists. @throws FluxqError FLUXQ_NODE_UNKNOWN for a name that no node has */
export function chosenNodes(list: NodeReportList, texts: readonly string[]): NodeReportList {
  if (texts.includes('')) throw unknownNode('');
  if (texts.length === 0) return { ...list, items: list.items.toSorted(byReport) };
  const wanted = new Set(texts.flatMap((text) => parseHostlist(text) ?? [text]));
  const items = list.items.filter(({ metadata }) => wanted.delete(metadata.name ?? ''));
  const [missing] = wanted;
  if (missing === undefined) return { ...list, items: items.toSorted(byReport) };
  throw unknownNode(missing);
}

function unknownNode(name: string): FluxqError {
  return new FluxqError('FLUXQ_NODE_UNKNOWN', 'neither the cluster nor Fluxion has a node of this name', {
    field: 'node',
    value: name,
    remedy: 'kubectl fluxqueue nodes -o name lists what there is',
  });
}

const byReport = (a: NodeReport, b: NodeReport) => byName({ name: nameOf(a) }, { name: nameOf(b) });

function nameOf({ metadata }: NodeReport): string {
  return metadata.name ?? '';
}

/** @param list in the order in which it is shown */
export function nodeLines(list: NodeReportList, options: NodeTableOptions): string[] {
  const { items, unitSizes } = list;
  if (items.length === 0) return ['the queue has no nodes', ...notes(list)];
  const types = unitTypes(
    items.flatMap(({ units, fluxion }) => [units, fluxion?.total ?? {}]),
    unitSizes,
  );
  return [
    summary(items, types),
    ...tableLines([head(options), ...items.map((item) => row(item, types, options))]),
    ...notes(list),
  ];
}

function summary(items: readonly NodeReport[], types: readonly UnitType[]): string {
  const down = items.filter((item) => item.down !== undefined);
  const up = items.filter((item) => item.down === undefined);
  const sum = (of: readonly NodeReport[], units: (item: NodeReport) => UnitCounts) =>
    amountsText(addUnits(of.map(units)), types);
  const parts = [
    `${counted(items.length, 'node')}, ${down.length === 0 ? 'all up' : `${down.length} down`}`,
    `${sum(up, ({ free }) => free)} free of ${sum(items, ({ units }) => units)}`,
    ...(down.length === 0 ? [] : [`${sum(down, ({ units }) => units)} down`]),
  ];
  return parts.join('; ');
}

function head({ wide }: NodeTableOptions): string[] {
  const columns = ['NODE', 'STATUS', 'FREE', 'USED', 'RESERVED', 'UNMANAGED'];
  return wide ? [...columns, 'TOTAL', 'FLUXION', 'FLUXION-FREE', 'FLUXION-TOTAL'] : columns;
}

function row(item: NodeReport, types: readonly UnitType[], { wide }: NodeTableOptions): string[] {
  const text = (counts: UnitCounts) => amountsText(counts, types);
  const { free, used, reserved, unmanaged, units, fluxion } = item;
  const cells = [nameOf(item), statusOf(item), ...[free, used, reserved, unmanaged].map(text)];
  if (!wide) return cells;
  const ofFluxion =
    fluxion === undefined
      ? ['unknown', '-', '-']
      : [fluxion.up ? 'Up' : 'Down', text(fluxion.free), text(fluxion.total)];
  return [...cells, text(units), ...ofFluxion];
}

function statusOf({ down, drift }: NodeReport): string {
  const status = down === undefined ? 'Up' : 'Down';
  return drift.length === 0 ? status : `${status},Drift`;
}

/** What the columns cannot say. Nodes with the same sentence share a line. */
function notes({ items, withoutFluxion }: NodeReportList): string[] {
  const down = grouped(items, ({ down }) => (down === undefined ? [] : [down]));
  const drift = grouped(items, ({ drift }) => drift);
  const some = (of: (item: NodeReport) => UnitCounts) =>
    items.some((item) => Object.values(of(item)).some((count) => count > 0));
  return [
    ...(some(({ reserved }) => reserved)
      ? ['RESERVED: units that the next reservation of the node will take']
      : []),
    ...(some(({ unmanaged }) => unmanaged) ? ['UNMANAGED: units that pods outside the queue use'] : []),
    ...down.map(({ nodes, sentence }) => `down: ${nodes}: ${sentence}`),
    ...drift.map(({ nodes, sentence }) => `drift: ${nodes}: ${sentence}`),
    ...(drift.length === 0
      ? []
      : ['the leader repairs drift within minutes; kubectl fluxqueue doctor says more if it stays']),
    ...(withoutFluxion === undefined ? [] : [`the view of Fluxion is missing: ${plain(withoutFluxion)}`]),
  ];
}

function grouped(
  items: readonly NodeReport[],
  sentencesOf: (item: NodeReport) => readonly string[],
): { readonly nodes: string; readonly sentence: string }[] {
  const names = new Map<string, string[]>();
  for (const item of items)
    for (const sentence of sentencesOf(item)) {
      const known = names.get(sentence) ?? [];
      known.push(nameOf(item));
      names.set(sentence, known);
    }
  return [...names].map(([sentence, of]) => ({ nodes: hostlistOf(of), sentence: plain(sentence) }));
}
