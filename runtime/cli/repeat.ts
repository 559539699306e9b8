/**
 * Shows an answer of the read API once, or with `--watch` again and again: its answers are computed when somebody asks, so there is nothing
 * that could be watched.
 */

import { type Clock, pause, systemClock } from '../clock';
import { plain } from '../columns';
import { messageOf } from '../errors';
import { printLines } from './output';
import { Screen } from './picture';
import { endOf, type Output } from './show';

/** Milliseconds between two questions. */
const EVERY_MS = 5_000;
/** Columns of an output that is not a terminal. */
const PIPE_COLUMNS = 80;

export interface Page {
  /** Columns of a line. */
  readonly columns: number;
  /** Whether longer lines are lost; a pipe takes lines of any length. */
  readonly isTerminal: boolean;
}

export interface RepeatOptions {
  readonly watch: boolean;
  /** Whether a terminal gets answers below each other too. @default false */
  readonly stream?: boolean;
  /** @default process.stdout */
  readonly output?: Output;
  /** @default process.stderr */
  readonly errors?: Pick<NodeJS.WriteStream, 'write'>;
  readonly clock?: Clock;
}

/** @throws what the first question is answered with */
export async function repeat<T>(
  askOnce: () => Promise<T>,
  linesOf: (answer: T, page: Page) => readonly string[],
  options: RepeatOptions,
): Promise<void> {
  const { output = process.stdout, watch } = options;
  const first = await askOnce();
  if (!watch) return printLines(linesOf(first, pageOf(output)), output);
  const end = endOf();
  try {
    await new Repetition(askOnce, linesOf, options, output).run(first, end.signal);
  } finally {
    end.forget();
  }
}

function pageOf({ isTTY, columns = PIPE_COLUMNS }: Output): Page {
  return isTTY ? { columns, isTerminal: true } : { columns: PIPE_COLUMNS, isTerminal: false };
}

class Repetition<T> {
  private readonly screen = new Screen();
  private trouble: string | undefined;
  /** What a pipe has got last. */
  private printed: string | undefined;

  constructor(
    private readonly askOnce: () => Promise<T>,
    private readonly linesOf: (answer: T, page: Page) => readonly string[],
    private readonly options: RepeatOptions,
    private readonly output: Output,
  ) {}

  async run(first: T, end: AbortSignal): Promise<void> {
    let answer = first;
    this.output.on('resize', () => {
      if (!end.aborted) this.draw(answer);
    });
    const ended = new Promise<T>((resolve) => {
      end.addEventListener('abort', () => resolve(answer), { once: true });
    });
    while (!end.aborted) {
      this.draw(answer);
      await pause(this.options.clock ?? systemClock, EVERY_MS, end);
      if (!end.aborted) answer = await Promise.race([this.again(answer, end), ended]);
    }
  }

  /** The next answer, or the one before while there is none. */
  private async again(before: T, end: AbortSignal): Promise<T> {
    try {
      const answer = await this.askOnce();
      this.trouble = undefined;
      return answer;
    } catch (error) {
      // The end has broken off the question.
      if (end.aborted) return before;
      const time = new Date().toISOString().slice(11, 19);
      this.trouble = `${time} no answer, trying again: ${plain(messageOf(error))}`;
      if (!this.isScreen) (this.options.errors ?? process.stderr).write(`${this.trouble}\n`);
      return before;
    }
  }

  private get isScreen(): boolean {
    return this.output.isTTY && this.options.stream !== true;
  }

  private draw(answer: T): void {
    const lines = this.linesOf(answer, pageOf(this.output));
    if (!this.isScreen) {
      this.print(lines);
      return;
    }
    const { rows = 24, columns = PIPE_COLUMNS } = this.output;
    // Above the lines: those that do not fit are cut at the end.
    const shown = [...(this.trouble === undefined ? [] : [this.trouble]), ...lines];
    this.output.write(this.screen.frame(shown, { rows, columns }));
  }

  /** A pipe gets what has changed as a whole, with an empty line before it. */
  private print(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (text === this.printed) return;
    printLines(
      this.printed === undefined || this.options.stream === true ? lines : ['', ...lines],
      this.output,
    );
    this.printed = text;
  }
}
