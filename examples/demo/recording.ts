/**
 * A recording of the live table as one animated SVG, which a README can show. Each frame is a group of text lines
 * that is visible for its share of the loop; no script runs, so that Git hosts display it.
 */
import { writeFileSync } from 'node:fs';
import { cut, type Line, merged, plain } from './styled';

/** The recording stays on its last frame this long before it starts again, in seconds. */
const LAST_FRAME_SECONDS = 4;
const COLUMN_WIDTH = 7.23;
const LINE_HEIGHT = 17;
const MARGIN = 14;

/** The ANSI colours of a terminal, on the dark background of the recording. */
const COLOURS: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  91: '#ffa198',
  92: '#aff5b4',
  93: '#f2cc60',
  94: '#a5d6ff',
  95: '#e2c5ff',
  96: '#b3f0ff',
};

interface Frame {
  /** Seconds since the first frame. */
  readonly at: number;
  readonly lines: readonly Line[];
}

export class Recording {
  private readonly frames: Frame[] = [];
  private startedAt: number | undefined;

  /**
   * @param columns lines are cut to this many characters
   * @param now milliseconds of a clock that never runs backwards
   */
  constructor(
    private readonly columns = 140,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Adds a frame; one that shows the same as the frame before it is left out. */
  add(lines: readonly Line[]): void {
    const fitting = lines.map((line) => cut(merged(line), this.columns));
    if (textOf(this.frames.at(-1)?.lines ?? []) === textOf(fitting)) return;
    this.startedAt ??= this.now();
    this.frames.push({ at: (this.now() - this.startedAt) / 1000, lines: fitting });
  }

  /** Writes the SVG file. */
  save(file: string): void {
    writeFileSync(file, this.svg());
  }

  /** The whole recording as the text of an SVG file. */
  svg(): string {
    const seconds = (this.frames.at(-1)?.at ?? 0) + LAST_FRAME_SECONDS;
    const rows = Math.max(1, ...this.frames.map(({ lines }) => lines.length));
    const width = Math.ceil(this.columns * COLUMN_WIDTH + 2 * MARGIN);
    const height = rows * LINE_HEIGHT + 2 * MARGIN;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" role="img" aria-label="The queue at work: FluxJobs that run, wait and finish">`,
      `<style>text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #d7dce5; white-space: pre; } .frame { visibility: hidden; animation: ${seconds.toFixed(1)}s step-end infinite; }</style>`,
      `<style>${Object.entries(COLOURS)
        .map(([code, colour]) => `.c${code} { fill: ${colour}; }`)
        .join(' ')}</style>`,
      `<style>${this.frames.map((_, index) => this.keyframes(index, seconds)).join(' ')}</style>`,
      `<rect width="${width}" height="${height}" rx="8" fill="#1d2330"/>`,
      ...this.frames.map(groupOf),
      '</svg>',
      '',
    ].join('\n');
  }

  private keyframes(index: number, seconds: number): string {
    const percent = (at: number) => `${((at / seconds) * 100).toFixed(2)}%`;
    const from = percent(this.frames[index]!.at);
    const next = this.frames[index + 1];
    const until = next === undefined ? '' : ` ${percent(next.at)} { visibility: hidden; }`;
    const before = index === 0 ? '' : '0% { visibility: hidden; } ';
    return `@keyframes f${index} { ${before}${from} { visibility: visible; }${until} } #f${index} { animation-name: f${index}; }`;
  }
}

function groupOf({ lines }: Frame, index: number): string {
  const texts = lines.map(
    (line, row) => `<text x="${MARGIN}" y="${MARGIN + (row + 1) * LINE_HEIGHT - 5}">${spansOf(line)}</text>`,
  );
  return `<g class="frame" id="f${index}">${texts.join('')}</g>`;
}

function spansOf(line: Line): string {
  return line
    .map(({ text, colour }) =>
      colour === undefined ? escaped(text) : `<tspan class="c${colour}">${escaped(text)}</tspan>`,
    )
    .join('');
}

function textOf(lines: readonly Line[]): string {
  return lines.map(plain).join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
