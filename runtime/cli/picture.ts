/** What a command shows and goes on to show with `--watch`: lines over lines on a terminal, new lines in a pipe. Pure. */
import { columns, cut, plain, plainLines } from '../columns';

export interface PictureRow {
  /** Tells the row from others. */
  readonly key: string;
  readonly cells: readonly string[];
  /** A pipe gets the row again when this changes; a cell like the age is no part of it. */
  readonly state: string;
  /** The cells once the row is no more. @default - nothing is said then */
  readonly gone?: readonly string[];
  /** Not in the picture; a pipe is told of it when it becomes like this. @default false */
  readonly hidden?: boolean;
}

export interface Picture {
  /** @default - no head */
  readonly head?: readonly string[];
  readonly rows: readonly PictureRow[];
  /** Instead of rows, if none is shown. @default - nothing */
  readonly empty?: string;
  /** Whether what the watch waited for has happened. @default false */
  readonly done?: boolean;
}

/** The whole picture. */
export function linesOf({ head, rows: all, empty }: Picture): string[] {
  const shown = all.filter(({ hidden }) => hidden !== true);
  if (shown.length === 0 && empty !== undefined) return [empty];
  const rows = [...(head === undefined ? [] : [head]), ...shown.map(({ cells }) => cells)];
  return aligned(rows).flatMap((text) => text.split('\n'));
}

/** One text for each row. A row of one cell may be of any length and have several lines. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  return rows.every((cells) => cells.length === 1)
    ? rows.map(([cell]) => plainLines(cell!))
    : columns(rows.map((cells) => cells.map(plain)));
}

/** The lines that a pipe gets: first the whole picture, then each row that is new, has changed or is gone. */
export class Changes {
  private known: ReadonlyMap<string, PictureRow> | undefined;
  private hasHead = false;

  next(picture: Picture): string[] {
    const before = this.known;
    this.known = new Map(picture.rows.map((row) => [row.key, row]));
    const shown = picture.rows.filter(({ hidden }) => hidden !== true).map(({ cells }) => cells);
    if (before === undefined) {
      this.hasHead = shown.length > 0;
      return linesOf(picture);
    }
    const end = picture.done === true && shown.length === 0 && picture.empty !== undefined;
    return [...this.news(picture, before, shown), ...(end ? [picture.empty] : [])];
  }

  private news(
    { head, rows }: Picture,
    before: ReadonlyMap<string, PictureRow>,
    shown: readonly (readonly string[])[],
  ): string[] {
    const changed = rows
      .filter(({ key, state }) => before.get(key)?.state !== state)
      .map(({ cells }) => cells);
    const gone = [...before.values()].flatMap(({ key, gone }) =>
      gone === undefined || this.known?.has(key) === true ? [] : [gone],
    );
    const news = [...changed, ...gone];
    if (news.length === 0) return [];
    // As wide as the columns of the whole picture.
    const [first = '', ...lines] = aligned([...(head === undefined ? [] : [head]), ...shown, ...news]);
    const isFirst = head !== undefined && !this.hasHead;
    this.hasHead = true;
    return [...(isFirst ? [first] : []), ...[first, ...lines].slice(-news.length)];
  }
}

export interface Size {
  readonly rows: number;
  readonly columns: number;
}

const UP = (lines: number) => (lines === 0 ? '' : `\u001b[${lines}A`);
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[H\u001b[2J';

/** Draws lines over those that it drew before, and never more than fit: a longer picture could not be drawn over. */
export class Screen {
  private drawn: readonly string[] = [];
  private size: Size | undefined;

  /** What has to be written to the terminal; empty if it shows these lines. */
  frame(lines: readonly string[], size: Size): string {
    const fitting = fit(lines, size);
    const resized =
      this.size !== undefined && !(this.size.rows === size.rows && this.size.columns === size.columns);
    const isSame = fitting.length === this.drawn.length && fitting.every((line, i) => line === this.drawn[i]);
    if (isSame && !resized) return '';
    // The terminal has wrapped the old lines anew.
    const start = resized ? CLEAR_ALL : `${UP(this.drawn.length)}\r`;
    this.drawn = fitting;
    this.size = size;
    return `${start}${fitting.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
  }
}

function fit(lines: readonly string[], { rows, columns }: Size): string[] {
  const most = Math.max(1, rows - 1);
  const shown =
    lines.length <= most ? lines : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more`];
  return shown.map((line) => cut(plain(line), columns));
}
