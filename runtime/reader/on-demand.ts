/** Something that is opened by the first question and closed when nobody has asked for a while. */
import type { Clock } from '../clock';

export interface OnDemandOptions<T> {
  readonly open: () => Promise<T>;
  readonly close: (opened: T) => Promise<void>;
  readonly clock: Clock;
  /** Milliseconds without a question after which it is closed. @default 600000 */
  readonly idle?: number;
  readonly onError: (error: unknown) => void;
}

const IDLE_MS = 600_000;

export class OnDemand<T> {
  private opened: Promise<T> | undefined;
  private cancelTimer: () => void = () => undefined;
  /** What is being closed. */
  private closing: Promise<void> = Promise.resolve();

  constructor(private readonly options: OnDemandOptions<T>) {}

  /** It stays open for the idle time from now. @throws the errors of `open`; the next call tries again */
  get(): Promise<T> {
    const { clock, idle = IDLE_MS } = this.options;
    this.cancelTimer();
    this.cancelTimer = clock.after(idle, () => this.drop());
    if (this.opened !== undefined) return this.opened;
    const opening = this.options.open();
    this.opened = opening;
    opening.catch(() => {
      if (this.opened === opening) this.opened = undefined;
    });
    return opening;
  }

  get isOpen(): boolean {
    return this.opened !== undefined;
  }

  /** The next question opens it again. */
  drop(): void {
    const { opened } = this;
    this.opened = undefined;
    this.cancelTimer();
    if (opened === undefined) return;
    this.closing = Promise.all([this.closing, this.close(opened)]).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.drop();
    await this.closing;
  }

  private async close(opening: Promise<T>): Promise<void> {
    const opened = await opening.catch(() => undefined);
    if (opened === undefined) return;
    try {
      await this.options.close(opened);
    } catch (error) {
      this.options.onError(error);
    }
  }
}
