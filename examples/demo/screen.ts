/** Where the demo writes: pictures are redrawn in place on a terminal; else they are plain lines, one every ten seconds. */
import { counts, picture } from './picture';
import type { Recording } from './recording';
import type { Snapshot } from './snapshot';
import { coloured, plain } from './styled';

/** Milliseconds between two plain lines of the same kind. */
const PLAIN_MS = 10_000;
const RECORDED = { width: 140, height: 30 } as const;
/** Of a terminal that does not tell its size. */
const USUAL = { columns: 80, rows: 24 } as const;

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export interface ScreenOptions {
  /** Redraws in place. @default - if the output is a terminal that can */
  readonly live?: boolean;
  /** @default - as `live`, without NO_COLOR */
  readonly colour?: boolean;
  /** Gets every picture, whether or not it is drawn. */
  readonly recording?: Recording | undefined;
  /** Milliseconds of a clock that never runs backwards. */
  readonly now?: () => number;
}

export class Screen {
  /** Whether pictures are redrawn in place. */
  readonly live: boolean;
  private readonly colour: boolean;
  private readonly now: () => number;
  /** Lines that the next picture replaces. */
  private drawn = 0;
  private toldAt = Number.NEGATIVE_INFINITY;
  private readonly told = new Set<string>();

  constructor(
    private readonly out: Output,
    private readonly options: ScreenOptions = {},
  ) {
    this.live = options.live ?? (out.isTTY === true && process.env.TERM !== 'dumb');
    this.colour = options.colour ?? (this.live && !process.env.NO_COLOR);
    this.now = options.now ?? (() => performance.now());
  }

  /** A line that stays; the last picture stays above it. */
  print(text: string): void {
    this.drawn = 0;
    this.out.write(`${text}\n`);
  }

  /** One line that changes: on a terminal it replaces the one before, else it is written every ten seconds. */
  progress(text: string): void {
    if (this.live) this.draw([text.slice(0, this.width)]);
    else if (this.isDue()) this.out.write(`${text}\n`);
  }

  /** @param heading lines above the picture */
  show(snapshot: Snapshot, heading: readonly string[] = []): void {
    // Pictures with a heading are not of the real run.
    if (heading.length === 0) this.options.recording?.add(picture(snapshot, RECORDED));
    if (this.live) {
      const size = { width: this.width, height: (this.out.rows || USUAL.rows) - 1 };
      this.draw(picture(snapshot, size, heading).map(this.colour ? coloured : plain));
    } else if (this.isDue()) {
      this.tell([...heading, counts(snapshot), ...snapshot.story]);
    }
  }

  /** Removes the last picture; what follows is told from the start. */
  clear(): void {
    if (this.live) this.draw([]);
    this.told.clear();
    this.toldAt = Number.NEGATIVE_INFINITY;
  }

  private get width(): number {
    return this.out.columns || USUAL.columns;
  }

  private isDue(): boolean {
    if (this.now() - this.toldAt < PLAIN_MS) return false;
    this.toldAt = this.now();
    return true;
  }

  /** Each line once. */
  private tell(lines: readonly string[]): void {
    for (const line of lines) {
      if (!this.told.has(line)) this.out.write(`${line}\n`);
      this.told.add(line);
    }
  }

  private draw(lines: readonly string[]): void {
    const up = this.drawn > 0 ? `\u001b[${this.drawn}A` : '';
    this.out.write(`${up}\r${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
    this.drawn = lines.length;
  }
}
