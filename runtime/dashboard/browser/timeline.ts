import { useMemo } from 'preact/hooks';
import type { JobView } from '../messages';
import { html } from './html';
import { type Bar, barsOf } from './state';
import { clockTime, colourOf, count, duration } from './words';

const ROWS = 60;
const TICKS = 6;
const MINUTE = 60_000;
const SHORTEST = 10 * MINUTE;
const LONGEST = 7 * 86_400_000;

interface Props {
  readonly jobs: ReadonlyMap<string, JobView>;
  readonly now: number;
  readonly choose: (key: string) => void;
}

export function Timeline({ jobs, now, choose }: Props) {
  const bars = useMemo(() => barsOf(jobs.values(), now), [jobs, Math.floor(now / 10_000)]);
  const shown = bars.slice(0, ROWS);
  const [from, until] = spanOf(shown, now);
  const at = (time: number) => Math.min(100, Math.max(0, (100 * (time - from)) / (until - from)));
  const ticks = Array.from({ length: TICKS }, (_, i) => from + (i * (until - from)) / TICKS);
  return html`
    <section id="timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <p>
        <span class="key running">running</span> <span class="key reserved">reserved: starts then at the latest</span>
        ${' '}<span class="key planned">planned: if nothing else were submitted</span>
        ${bars.length > ROWS ? ` The first ${ROWS} of ${count(bars.length, 'job')}.` : ''}
      </p>
      ${shown.length === 0 && html`<p>Nothing runs, and nothing has a time to start.</p>`}
      <div class="ticks" aria-hidden="true">${ticks.map(
        (time) => html`<span style=${{ left: `${at(time)}%` }}>${clockTime(time, now)}</span>`,
      )}</div>
      <ol class="bars">${shown.map((bar) => barRow(bar, { at, now, choose }))}</ol>
    </section>
  `;
}

interface RowContext {
  /** Percent of the width. */
  readonly at: (time: number) => number;
  readonly now: number;
  readonly choose: (key: string) => void;
}

function barRow({ job, kind, from, until, open }: Bar, { at, now, choose }: RowContext) {
  const end = open ? 'no walltime' : `until ${clockTime(until, now)}`;
  const words = `${kind}, from ${clockTime(from, now)}, ${end} (${duration(until - from)})`;
  const left = at(from);
  return html`<li key=${job.key}>
    <button type="button" class="link" onClick=${() => choose(job.key)}>${job.name}<span class="hidden">: ${words}</span></button>
    <span class="lane" title=${words}><span
      class=${`bar ${kind} ${open ? 'open' : ''} colour-${colourOf(job.key)}`}
      style=${{ left: `${left}%`, width: `${Math.max(0.4, at(until) - left)}%` }}
    ></span><span class="now" style=${{ left: `${at(now)}%` }}></span></span>
  </li>`;
}

/** From a little before now until the last bar ends, in bounds. */
function spanOf(bars: readonly Bar[], now: number): readonly [from: number, until: number] {
  const last = Math.max(now + SHORTEST, ...bars.map(({ until }) => until));
  const until = Math.min(now + LONGEST, last);
  const past = Math.max(MINUTE, (until - now) / 8);
  return [now - past, until];
}
