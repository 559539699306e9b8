import { useMemo } from 'preact/hooks';
import type { NodeView } from '../messages';
import { html } from './html';
import { memo } from './memo';
import { type Part, type State, type Tile, tilesOf } from './state';
import { colourOf, count } from './words';

interface Props {
  readonly state: State;
  readonly choose: (key: string) => void;
}

export function NodeMap({ state, choose }: Props) {
  const tiles = useMemo(() => tilesOf(state), [state.jobs, state.nodes]);
  const busy = tiles.filter(({ parts }) => parts.length > 0).length;
  return html`
    <section id="nodes" aria-labelledby="nodes-title">
      <h2 id="nodes-title">Nodes</h2>
      <p>${busy} of ${count(tiles.length, 'node')} in use. ${state.nodesUnknown ?? ''}</p>
      <ul class="tiles">${tiles.map((tile) => html`<${NodeTile} key=${tile.node.name} tile=${tile} choose=${choose} />`)}</ul>
    </section>
  `;
}

const STATES = { up: '', down: 'down', drained: 'drained' };

const NodeTile = memo(
  ({ tile: { node, parts }, choose }: { tile: Tile; choose: (key: string) => void }) => {
    const used = parts.reduce((sum, { cores = 0, whole }) => sum + (whole ? node.cores : cores), 0);
    const amount = parts.some(({ cores, whole }) => cores === undefined && !whole)
      ? 'in use'
      : `${Math.round(used * 10) / 10} of ${count(node.cores, 'core')}`;
    return html`<li class=${`tile ${node.state}`}>
      <span class="name">${node.name}</span>
      <span class="amount">${[STATES[node.state], amount].filter(Boolean).join(', ')}</span>
      <span class="bar">${parts.map((part) => partButton(part, node, choose))}</span>
    </li>`;
  },
  (before, after) => sameTile(before.tile, after.tile),
);

function partButton({ job, cores, whole }: Part, node: NodeView, choose: (key: string) => void) {
  const held = whole ? 'the whole node' : cores === undefined ? 'a part' : count(cores, 'core');
  const label = `${job.namespace}/${job.name}: ${held}`;
  const share = whole || cores === undefined ? 100 : (100 * cores) / Math.max(1, node.cores);
  return html`<button
    type="button"
    class=${`part colour-${colourOf(job.key)}`}
    style=${{ width: `${share}%` }}
    aria-label=${`${label} of ${node.name}`}
    title=${label}
    onClick=${() => choose(job.key)}
  ></button>`;
}

function sameTile(a: Tile, b: Tile): boolean {
  return (
    a.node === b.node &&
    a.parts.length === b.parts.length &&
    a.parts.every((part, i) => part.job === b.parts[i]!.job && part.cores === b.parts[i]!.cores)
  );
}
