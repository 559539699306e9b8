/** What commands print, without what differs from run to run: two runs give the same bytes. */
import { columns } from '../../../runtime/columns';

/** The instant at which everything seems to happen. */
const SHOWN_START = Date.UTC(2026, 10, 23, 9);
/** Milliseconds to which times are rounded down: much longer than a run, and a divisor of the walltimes that are used. */
const STEP = 600_000;
/** What is printed in whole seconds may seem to be before the start. */
const EARLIER = 5_000;
/** Hours of accounting are rounded to this: what 20 nodes of 16 cores hold in that time, and some. */
const HOURS = 100;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** A time of the same day without its date. */
const CLOCK = /(?<![T\d:])\d\d:\d\d:\d\dZ/g;
const DAY = 86_400_000;
const UID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g;
/** The identity of a controller: its host, and a part of a random number. */
const CONTROLLER = /^\S+_[0-9a-f-]+$/;
/** The period of usage, by default that of the month. */
const PERIOD = /(?<=\bfrom )\S+Z until \S+Z/g;
/** How far estimates were off. */
const ERRORS = /(?<=\bestimates were off by )\S+ \(p50\) and \S+(?= \(p90\))/g;
/** The host of the leader, as doctor names it. */
const LEADER = /\S+(?= leads since )/g;
/** How long ago something was, in a sentence. */
const LATELY = /(?<=since |ran for )\d+ (?:s|min)\b|\b\d+ (?:s|min)(?= ago)/g;
/** The address of the dashboard. */
const DASHBOARD = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\//g;
/** The columns of a trace in Standard Workload Format that are times: submitted, waited, ran. */
const TRACED = /^(\d+) (\d+) (\d+) (\d+)((?: -?\d+){14})$/gm;
const HEAD = /^[A-Z][A-Z-]*(?: +[A-Z][A-Z-]*)+$/;
const AGE_UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param start milliseconds: when the run began */
export function steady(text: string, start: number): string {
  const at = (time: number) => SHOWN_START + rounded(time - start);
  const withTimes = text
    .replace(TIME, (time) => isoLike(time, at(Date.parse(time))))
    .replace(CLOCK, (time) =>
      isoLike('', at(nearest(time, start)))
        .slice(11)
        .concat('Z'),
    )
    .replace(/(?<=UnixStartTime: )\d+/g, (seconds) => `${at(Number(seconds) * 1000) / 1000}`)
    .replace(TRACED, (_, job, submitted, waited, ran, rest) =>
      [job, ...[submitted, waited, ran].map((seconds) => rounded(Number(seconds) * 1000) / 1000)]
        .join(' ')
        .concat(rest),
    )
    .replace(/(?<="(?:cpu|memoryGiB|gpu)Hours":)[\d.e+-]+/g, (hours) => `${roundedHours(hours)}`)
    .replace(PERIOD, '2026-11-01T00:00:00Z until 2026-11-23T09:00:00Z')
    .replace(ERRORS, '1s (p50) and 1s')
    .replace(LEADER, 'fluxqueue-controller')
    .replace(LATELY, '1 s')
    .replace(DASHBOARD, 'http://127.0.0.1:PORT/SECRET/');
  return withTables(withUids(withTimes));
}

function rounded(milliseconds: number): number {
  return Math.floor((milliseconds + EARLIER) / STEP) * STEP;
}

/** The instant of this clock time that is nearest to the start. */
function nearest(clock: string, start: number): number {
  const day = new Date(start).toISOString().slice(0, 11);
  const time = Date.parse(`${day}${clock}`);
  return time - Math.round((time - start) / DAY) * DAY;
}

function roundedHours(hours: string): number {
  return Math.floor(Number(hours) / HOURS) * HOURS;
}

/** With the same number of digits. */
function isoLike(time: string, at: number): string {
  const [seconds = ''] = new Date(at).toISOString().split('.');
  return seconds + time.slice(seconds.length).replaceAll(/\d/g, '0');
}

/** Numbered in the order in which they come. */
function withUids(text: string): string {
  const known = new Map<string, number>();
  return text.replace(UID, (uid) => {
    const number = known.get(uid) ?? known.size + 1;
    known.set(uid, number);
    return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  });
}

/** The tables of the text, each laid out again, because the width of a column depends on its cells. */
function withTables(text: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => HEAD.test(line) && / (AGE|BY|[A-Z]+-HOURS)\b/.test(line));
  if (from < 0) return text;
  const end = lines.findIndex((line, i) => i > from && line === '');
  const to = end < 0 ? lines.length : end;
  const table = withCells(lines.slice(from, to));
  const rest = lines.slice(to);
  return [...lines.slice(0, from), ...table, ...(rest.length > 0 ? [withTables(rest.join('\n'))] : [])].join(
    '\n',
  );
}

function withCells(lines: readonly string[]): readonly string[] {
  const starts = [...lines[0]!.matchAll(/\S+/g)].map(({ index, 0: title }) => ({ index, title }));
  const rows = lines.map((line, row) =>
    starts.map(({ index, title }, i) => {
      const cell = line.slice(index, starts[i + 1]?.index).trim();
      return row === 0 ? cell : steadyCell(title, cell);
    }),
  );
  return columns(rows);
}

function steadyCell(title: string, cell: string): string {
  if (title === 'BY') return CONTROLLER.test(cell) ? 'fluxqueue-controller' : cell;
  if (title.endsWith('-HOURS')) return roundedHours(cell).toFixed(2);
  const [, count, unit = ''] = (title === 'AGE' && /^(\d+)([smhd])$/.exec(cell)) || [];
  if (count === undefined) return cell;
  const minutes = rounded(Number(count) * AGE_UNITS[unit]!) / 60_000;
  return `${Math.max(1, minutes)}m`;
}
