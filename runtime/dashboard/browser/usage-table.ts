import { useMemo } from 'preact/hooks';
import type { JobView } from '../messages';
import { html } from './html';
import { type Usage, usageBy } from './state';

const GROUPS: readonly (readonly [title: string, groupOf: (job: JobView) => string])[] = [
  ['Queue', ({ queue }) => queue],
  ['Namespace', ({ namespace }) => namespace],
];

export function UsageTable({ jobs }: { jobs: ReadonlyMap<string, JobView> }) {
  const tables = useMemo(
    () => GROUPS.map(([title, groupOf]) => [title, usageBy(jobs.values(), groupOf)] as const),
    [jobs],
  );
  return html`
    <section id="usage" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <div class="side-by-side">${tables.map(([title, rows]) => usageTable(title, rows))}</div>
    </section>
  `;
}

function usageTable(title: string, rows: readonly Usage[]) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`Usage by ${title.toLowerCase()}`}>
    <table>
      <thead><tr><th scope="col">${title}</th><th scope="col" class="number">Running</th><th scope="col" class="number">Waiting</th>
        <th scope="col" class="number">Nodes</th><th scope="col" class="number">Cores</th></tr></thead>
      <tbody>${rows.map(
        ({ name, running, waiting, nodes, cores }) => html`<tr key=${name}>
          <th scope="row">${name}</th><td class="number">${running}</td><td class="number">${waiting}</td>
          <td class="number">${nodes}</td><td class="number">${cores}</td></tr>`,
      )}</tbody>
    </table>
  </div>`;
}
