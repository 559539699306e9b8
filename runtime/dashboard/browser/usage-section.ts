import { useMemo } from 'preact/hooks';
import type { FairShareView, JobView, UsageView } from '../messages';
import { useAsked, useWhileVisible } from './asked';
import { html } from './html';
import { inOrder, type UsageKey, type UsageRow, usageRows } from './usage';
import { hours, percent } from './words';

const TABLES: readonly (readonly [UsageKey, title: string])[] = [
  ['queue', 'Queue'],
  ['namespace', 'Namespace'],
  ['user', 'User'],
];

/** Milliseconds until what is held now counts as used, too. */
const REFRESH = 60_000;

const MONTH = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** What runs and waits now, and what was allocated this month. */
export function UsageSection({ jobs }: { jobs: ReadonlyMap<string, JobView> }) {
  const [{ answer, problem }, again] = useAsked<UsageView>('usages');
  useWhileVisible(REFRESH, again);
  const tables = useMemo(
    () =>
      TABLES.map(([key, title]) => [key, title, usageRows(jobs.values(), answer?.lines ?? [], key)] as const),
    [jobs, answer],
  );
  const month = answer && MONTH.format(new Date(answer.from));
  return html`
    <section id="usage" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <p role="status">${problem ?? (month === undefined && 'Reading the usage of this month …')}</p>
      <div class="side-by-side">${tables.map(
        ([key, title, rows]) =>
          (key !== 'user' || rows.length > 0) &&
          html`<${UsageTable} key=${key} by=${key} title=${title} rows=${rows} month=${month} />`,
      )}</div>
      ${answer !== undefined && answer.shares.length > 0 && fairShares(answer.shares)}
    </section>
  `;
}

interface TableProps {
  readonly by: UsageKey;
  readonly title: string;
  readonly rows: readonly UsageRow[];
  /** @default - its hours are not known */
  readonly month: string | undefined;
}

function UsageTable({ by, title, rows, month }: TableProps) {
  const hasNow = by !== 'user';
  const number = (name: string) => html`<th scope="col" class="number">${name}</th>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`Usage by ${title.toLowerCase()}`}>
    <table>
      <thead>
        ${
          month !== undefined &&
          html`<tr><td></td>${hasNow && html`<th scope="colgroup" colspan="4">Now</th>`}<th scope="colgroup" colspan="4">${month}</th></tr>`
        }
        <tr><th scope="col">${title}</th>${hasNow && ['Running', 'Waiting', 'Nodes', 'Cores'].map(number)}
          ${month !== undefined && ['Ended jobs', 'Core hours', 'GiB hours', 'GPU hours'].map(number)}</tr>
      </thead>
      <tbody>${rows.map((row) => usageRow(row, hasNow, month !== undefined))}</tbody>
    </table>
  </div>`;
}

function usageRow({ name, now, hours: held }: UsageRow, hasNow: boolean, hasHours: boolean) {
  const current = hasNow
    ? [now?.running, now?.waiting, now?.nodes, now?.cores].map((value = 0) => value)
    : [];
  const past = hasHours ? [held?.jobs ?? 0, ...[held?.cpu, held?.memoryGiB, held?.gpu].map(hours)] : [];
  return html`<tr key=${name}>
    <th scope="row">${name === '' ? 'not recorded' : name}</th>${[...current, ...past].map((value) => html`<td class="number">${value}</td>`)}
  </tr>`;
}

function fairShares(shares: readonly FairShareView[]) {
  const number = (name: string) => html`<th scope="col" class="number">${name}</th>`;
  return html`
    <h3 id="shares-title">Fair shares</h3>
    <p>The factors are part of the priority, times <code>priorityWeights.fairShare</code>. The share of a queue is of all usage, that of a user of the queue’s; older usage counts less.</p>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="shares-title">
      <table>
        <thead><tr><th scope="col">Queue</th><th scope="col">User</th>${number('Weight')}<th scope="col">Used share</th>${number('Factor')}</tr></thead>
        <tbody>${inOrder(shares).map(shareRow)}</tbody>
      </table>
    </div>
  `;
}

function shareRow({ queue, user, weight, usedShare, factor }: FairShareView) {
  return html`<tr key=${`${queue} ${user ?? ''}`}>
    <th scope="row">${queue}</th><td>${user ?? 'all'}</td><td class="number">${weight ?? ''}</td>
    <td><span class="share"><span class="number">${percent(usedShare)}</span>
      <span class="part-of-all" aria-hidden="true"><span style=${{ width: `${100 * Math.min(1, usedShare)}%` }}></span></span></span></td>
    <td class="number">${factor.toFixed(3)}</td>
  </tr>`;
}
