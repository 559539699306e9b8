/** The leader's view of Fluxion, as the reader gets it: it asks, and waits for as long as an answer may take. */
import { type Clock, pause } from '../../clock';
import type { LeaderViews, StoredView } from '../../queue/leader-view';

/** Seconds for which a view counts as present: the leader makes no new one before. */
const FRESH_SECONDS = 10;
/** Seconds after which a view says nothing about the present any more. */
const OLD_SECONDS = 30;

/** Milliseconds that an answer about Fluxion waits for the leader. */
const LEADER_MS = 8_000;

export class LeaderViewSource {
  private asking: Promise<void> | undefined;

  constructor(
    private readonly queue: () => LeaderViews,
    private readonly clock: Clock,
  ) {}

  /** @returns undefined if the leader does not answer within so many milliseconds */
  async view(milliseconds = LEADER_MS): Promise<StoredView | undefined> {
    const known = await this.queue().view();
    if (known !== undefined && known.age < FRESH_SECONDS) return known;
    await this.ask(milliseconds);
    const answered = await this.queue().view();
    return answered !== undefined && answered.age <= OLD_SECONDS ? answered : undefined;
  }

  /** Resolves when a view was stored, or when the time has passed. Who asks meanwhile waits for the same answer. */
  private async ask(milliseconds: number): Promise<void> {
    this.asking ??= this.askOnce(LEADER_MS).finally(() => {
      this.asking = undefined;
    });
    const done = new AbortController();
    await Promise.race([this.asking, pause(this.clock, milliseconds, done.signal)]);
    done.abort();
  }

  private async askOnce(milliseconds: number): Promise<void> {
    const stored = new AbortController();
    const listening = this.queue().onViewStored(() => stored.abort());
    const timeout = pause(this.clock, milliseconds, stored.signal);
    try {
      await Promise.race([listening.ready, timeout]);
      await this.queue().askView();
      await timeout;
    } finally {
      stored.abort();
      await listening.stop();
    }
  }
}
