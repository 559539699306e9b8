import { useMemo, useState } from 'preact/hooks';
import type { JobView } from '../messages';
import { html } from './html';
import { type Filter, NO_FILTER, shownJobs } from './state';
import { clockTime, count, duration } from './words';

/** Rows that are drawn at first, and more each time one asks for more: ten thousand rows would make every change slow. */
const ROWS = 25;
const MORE = 200;
const PHASES: readonly (readonly [Filter['phase'], string])[] = [
  ['active', 'running and waiting'],
  ['Running', 'running'],
  ['Waiting', 'waiting'],
  ['Finished', 'ended'],
  ['all', 'all'],
];

interface Props {
  readonly jobs: ReadonlyMap<string, JobView>;
  readonly now: number;
  readonly choose: (key: string) => void;
}

export function QueueTable({ jobs, now, choose }: Props) {
  const [filter, setFilter] = useState(NO_FILTER);
  const [most, setMost] = useState(ROWS);
  const queues = useMemo(() => [...new Set([...jobs.values()].map(({ queue }) => queue))].sort(), [jobs]);
  const shown = useMemo(() => shownJobs(jobs.values(), filter), [jobs, filter]);
  const change = (part: Partial<Filter>) => {
    setFilter({ ...filter, ...part });
    setMost(ROWS);
  };
  return html`
    <section id="queue" aria-labelledby="queue-title">
      <h2 id="queue-title">Queue</h2>
      <${Filters} filter=${filter} queues=${queues} change=${change} />
      <p role="status">${count(shown.length, 'job')}${shown.length > most ? `, the first ${most} are shown` : ''}</p>
      <div class="scroll" tabindex="0" role="region" aria-label="Jobs in their order">
        <table>
          <thead><tr>
            <th scope="col">Job</th><th scope="col">Namespace</th><th scope="col">Queue</th><th scope="col" class="number">Position</th>
            <th scope="col">Phase</th><th scope="col">Nodes</th><th scope="col">Start</th><th scope="col">Age</th><th scope="col">Reason</th>
          </tr></thead>
          <tbody>${shown.slice(0, most).map((job) => row(job, now, choose))}</tbody>
        </table>
      </div>
      ${shown.length > most && html`<button type="button" onClick=${() => setMost(most + MORE)}>Show more</button>`}
    </section>
  `;
}

interface FiltersProps {
  readonly filter: Filter;
  readonly queues: readonly string[];
  readonly change: (part: Partial<Filter>) => void;
}

function Filters({ filter, queues, change }: FiltersProps) {
  const value = (event: Event) => (event.currentTarget as HTMLInputElement | HTMLSelectElement).value;
  const phase = (event: Event) => change({ phase: value(event) as Filter['phase'] });
  return html`
    <div class="filters" role="search" aria-label="Jobs">
      <label>Find <input type="search" value=${filter.text} onInput=${(event: Event) => change({ text: value(event) })} /></label>
      <label>Queue <select value=${filter.queue} onChange=${(event: Event) => change({ queue: value(event) })}>
        <option value="">all</option>
        ${queues.map((queue) => html`<option value=${queue}>${queue}</option>`)}
      </select></label>
      <label>Show <select value=${filter.phase} onChange=${phase}>
        ${PHASES.map(([name, words]) => html`<option value=${name}>${words}</option>`)}
      </select></label>
    </div>
  `;
}

function row(job: JobView, now: number, choose: (key: string) => void) {
  const { key, queue, position, namespace, name, phase, nodes, created } = job;
  const why = phase === 'Waiting' ? job.reason : (job.result ?? '');
  return html`<tr key=${key}>
    <th scope="row"><button type="button" class="link" onClick=${() => choose(key)}>${name}</button></th>
    <td>${namespace}</td><td>${queue}</td><td class="number">${position ?? ''}</td>
    <td><span class=${`phase ${phase}`}>${phase}</span></td><td class="nodes">${nodes ?? ''}</td><td>${startOf(job, now)}</td>
    <td>${created === '' ? '' : duration(now - Date.parse(created))}</td><td title=${phase === 'Waiting' ? job.message : ''}>${why}</td>
  </tr>`;
}

function startOf({ started, reserved, planned }: JobView, now: number): string {
  if (started !== undefined) return clockTime(started, now);
  if (reserved !== undefined) return `by ${clockTime(reserved, now)}`;
  return planned === undefined ? '' : `about ${clockTime(planned, now)}`;
}
