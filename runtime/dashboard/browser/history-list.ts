import type { HistoryEntryView, HistoryView, JobView } from '../messages';
import { useAsked } from './asked';
import { eventsOf, versionOf, type Workload } from './history';
import { html } from './html';
import { clockTime, count } from './words';

interface Props {
  readonly workload: Workload;
  readonly job: JobView | undefined;
  readonly now: number;
}

/** The events of one workload, which follow it while it changes. */
export function HistoryList({ workload: { namespace, kind, name }, job, now }: Props) {
  const address = `histories/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const [{ answer, problem }, again] = useAsked<HistoryView>(address, versionOf(job));
  const isLoading = answer === undefined && problem === undefined;
  return html`
    <section aria-labelledby="history-title">
      <h3 id="history-title">History</h3>
      <p role="status">${isLoading ? 'Reading the history …' : problem}</p>
      ${problem !== undefined && html`<button type="button" onClick=${again}>Try again</button>`}
      ${answer !== undefined && eventLists(answer, kind, now)}
    </section>
  `;
}

function eventLists({ entries }: HistoryView, kind: string, now: number) {
  const { own, earlier, omitted } = eventsOf(entries, kind);
  if (own.length === 0) return html`<p>No event is recorded.</p>`;
  return html`
    ${omitted > 0 && html`<p>The first ${count(omitted, 'event')} of it are left out here; kubectl fluxqueue history shows all.</p>`}
    ${eventList(own, now)}
    ${
      earlier.length > 0 &&
      html`<details>
        <summary>${count(earlier.length, 'event')} of ${kind}s that had this name before</summary>
        ${eventList(earlier, now)}
      </details>`
    }
  `;
}

function eventList(entries: readonly HistoryEntryView[], now: number) {
  return html`<ol class="events">${entries.map(
    ({ at, event, actor, message }) => html`<li>
      <time datetime=${at}>${clockTime(at, now)}</time>
      <div><strong>${event}</strong>${actor !== '' && html` <span class="by">by ${actor}</span>`}
      ${message !== '' && html`<p>${message}</p>`}</div>
    </li>`,
  )}</ol>`;
}
