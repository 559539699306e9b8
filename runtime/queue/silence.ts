/**
 * Finds connections that are dead without a reset. After a failover or a change of the network no packet ever answers a
 * statement, and TCP gives up only after minutes. A statement may rightly take long, so time alone proves nothing: when
 * one has no answer for some seconds, the server is asked over a new connection whether it works for this process.
 */
export interface SilenceOptions {
  /** Asks the server over a new connection whether it works on any statement of this process. It rejects if it cannot. */
  readonly isServerWorking: () => Promise<boolean>;
  /** Called when a statement has no answer although the server works on none: its connection is dead. */
  readonly onDead: (error: Error) => void;
  /** Milliseconds without an answer after which the server is asked, and between two questions. @default 2000 */
  readonly doubtMs?: number | undefined;
}

const DOUBT_MS = 2_000;
/** Least milliseconds for an answer that was on its way while the server was asked. It gets as long as the question took. */
const GRACE_MS = 250;

export class SilenceDetector {
  /** The statements without an answer, oldest first, and when each was sent. */
  private readonly open = new Map<symbol, number>();
  private timer: NodeJS.Timeout | undefined;
  private asking = false;
  private readonly doubtMs: number;

  constructor(private readonly options: SilenceOptions) {
    this.doubtMs = options.doubtMs ?? DOUBT_MS;
  }

  /** Runs a statement. */
  async watch<T>(statement: () => Promise<T>): Promise<T> {
    const key = Symbol('statement');
    this.open.set(key, performance.now());
    this.schedule();
    try {
      return await statement();
    } finally {
      this.open.delete(key);
      if (this.open.size === 0) this.cancel();
    }
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private schedule(): void {
    const [oldest] = this.open.values();
    if (this.timer !== undefined || this.asking || oldest === undefined) return;
    const left = Math.max(GRACE_MS, oldest + this.doubtMs - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.asking = true;
      void this.check().finally(() => {
        this.asking = false;
        this.schedule();
      });
    }, left);
  }

  private async check(): Promise<void> {
    const [oldest] = this.open;
    if (oldest === undefined || performance.now() - oldest[1] < this.doubtMs) return;
    const [key] = oldest;
    const asked = performance.now();
    // A server that cannot be asked may be frozen with all its statements: the next question comes soon.
    if (await this.options.isServerWorking().catch(() => true)) return pause(this.doubtMs);
    await pause(Math.max(GRACE_MS, performance.now() - asked));
    if (!this.open.has(key)) return;
    const seconds = Math.round((performance.now() - oldest[1]) / 100) / 10;
    this.options.onDead(
      new Error(`no answer for ${seconds} s, and the server works on no statement of this process`),
    );
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
