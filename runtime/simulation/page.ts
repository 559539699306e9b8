/** One HTML page with the results of several replays: a table, and plots of uPlot, which is part of the page. */
import type { Curve, Curves } from './curves';
import type { Result } from './results';
import { COLUMNS, type Column, QUEUE_COLUMNS, queueResults } from './table';
import uplot from './uplot.json';

interface Plot {
  readonly curve: keyof Curves;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** Whether x covers several decades. */
  readonly wide: boolean;
}

const PLOTS: readonly Plot[] = [
  { curve: 'waits', title: 'Waits', x: 'wait of at most (s)', y: 'jobs (%)', wide: true },
  { curve: 'widths', title: 'Mean wait by width', x: 'cores', y: 'mean wait (s)', wide: true },
  { curve: 'utilisation', title: 'Utilisation', x: 'hours', y: 'cores in use (%)', wide: false },
  { curve: 'backlog', title: 'Waiting work', x: 'hours', y: 'cores that waiting jobs request', wide: false },
  {
    curve: 'errors',
    title: 'Error of the first estimate',
    x: 'wrong by at most (s)',
    y: 'jobs with an estimate (%)',
    wide: true,
  },
];

/** What the script of the page reads. */
interface PageData {
  readonly labels: readonly string[];
  readonly plots: readonly (Plot & { readonly curves: readonly Curve[] })[];
}

/** @param trace name of the trace */
export function page(trace: string, results: readonly Result[]): string {
  const data: PageData = {
    labels: results.map(({ variant }) => variant.label),
    plots: PLOTS.map((plot) => ({ ...plot, curves: results.map(({ curves }) => curves[plot.curve]) })),
  };
  const title = `Replay of ${escaped(trace)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
${uplot.style}
${STYLE}
</style>
</head>
<body>
<h1>${title}</h1>
${table('Results', COLUMNS, results)}
${queueTable(results)}
${PLOTS.map(figure).join('\n')}
<script>
${uplot.script}
</script>
<script id="data" type="application/json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>
<script>
${SCRIPT}
</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

function table<T>(name: string, columns: readonly Column<T>[], shown: readonly T[]): string {
  const head = columns.map(({ title }) => `<th scope="col">${escaped(title)}</th>`);
  const cell = (row: T) => (column: Column<T>, i: number) => {
    const text = escaped(column.text(row));
    return i === 0 ? `<th scope="row">${text}</th>` : `<td>${text}</td>`;
  };
  const rows = shown.map((row) => `<tr>${columns.map(cell(row)).join('')}</tr>`);
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escaped(name)}"><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table></div>`;
}

function queueTable(results: readonly Result[]): string {
  const rows = queueResults(results);
  return rows.length === 0 ? '' : `<h2>Queues</h2>\n${table('Queues', QUEUE_COLUMNS, rows)}`;
}

function figure({ title, x, y }: Plot, i: number): string {
  return `<figure><figcaption><h2>${escaped(title)}</h2> ${escaped(y)} over ${escaped(x)}</figcaption><div id="plot-${i}"></div></figure>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fff; --line: #d5d9e2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9f0; --paper: #14171f; --line: #3a4150; } }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; } h2 { display: inline; font-size: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th[scope=row], th:first-child { text-align: left; }
figure { margin: 2rem 0; }
`.trim();

/** Runs in the browser. */
const SCRIPT = `
const { labels, plots } = JSON.parse(document.getElementById('data').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const colours = dark
  ? ['#7cb5ff', '#ffb454', '#6fdc8c', '#ff8389', '#be95ff', '#3ddbd9', '#ffafd2', '#c6c6c6']
  : ['#0f62fe', '#b35c00', '#198038', '#da1e28', '#8a3ffc', '#007d79', '#9f1853', '#525252'];
const ink = dark ? '#e6e9f0' : '#1d2330';
const grid = { stroke: dark ? '#3a4150' : '#d5d9e2' };
const axis = (label) => ({ label, stroke: ink, grid, ticks: grid });
const charts = plots.map(({ x, y, wide, curves }, i) => {
  const element = document.getElementById('plot-' + i);
  if (curves.every((curve) => curve.x.length === 0)) {
    element.textContent = 'No job of this trace has one.';
    return undefined;
  }
  const series = labels.map((label, n) => ({
    label, stroke: colours[n % colours.length], width: 2, dash: n < colours.length ? undefined : [8, 4],
    spanGaps: true, points: { show: false }, value: (_, value) => (value == null ? '' : value.toPrecision(4)),
  }));
  const options = {
    width: element.clientWidth, height: 320,
    scales: { x: wide ? { time: false, distr: 4, range: (_, low, high) => [low, high] } : { time: false }, y: { range: (_, low, high) => [0, high * 1.05 || 1] } },
    axes: [axis(x), { ...axis(y), size: 80, labelSize: 24 }], series: [{ label: x }, ...series],
  };
  return { element, chart: new uPlot(options, uPlot.join(curves.map((curve) => [curve.x, curve.y])), element) };
});
addEventListener('resize', () => {
  for (const { element, chart } of charts.filter(Boolean)) chart.setSize({ width: element.clientWidth, height: 320 });
});
`.trim();
