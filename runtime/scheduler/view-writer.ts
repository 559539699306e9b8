/**
 * Answers who asks for the leader's view of Fluxion, at most once in ten seconds however many ask. While nobody asks it does
 * nothing.
 */
import { messageOf } from '../errors';
import type { LeaderView, Listening } from '../queue/leader-view';
import type { Controller, Shared } from '../shared/shared';

/** Milliseconds between two views, at least. */
const INTERVAL_MS = 10_000;

export class ViewWriter implements Controller {
  private listening: Listening | undefined;
  private cancelTimer: (() => void) | undefined;
  private underWay: Promise<void> | undefined;
  /** Milliseconds of the clock. */
  private earliest = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly shared: Pick<Shared, 'queue' | 'fence' | 'time' | 'logger'>,
    private readonly view: () => Promise<LeaderView>,
  ) {}

  start(): void {
    this.listening = this.shared.queue.onViewAsked(() => this.asked());
  }

  async stop(): Promise<void> {
    const { listening } = this;
    this.listening = undefined;
    this.cancelTimer?.();
    await Promise.all([listening?.stop(), this.underWay]);
  }

  private asked(): void {
    if (this.listening === undefined || this.cancelTimer !== undefined) return;
    const { clock } = this.shared.time;
    this.cancelTimer = clock.after(Math.max(0, this.earliest - clock.now()), () => {
      this.underWay = this.write().finally(() => {
        this.cancelTimer = undefined;
      });
    });
  }

  private async write(): Promise<void> {
    const { queue, fence, logger } = this.shared;
    const { clock } = this.shared.time;
    const started = clock.now();
    this.earliest = started + INTERVAL_MS;
    try {
      await queue.setView(fence, await this.view());
      logger.debug({ milliseconds: clock.now() - started }, "the leader's view was written");
    } catch (error) {
      // Who asked says that nobody answered, and a fence that is too old ends the term with the next pass.
      logger.warn({ error: messageOf(error) }, "the leader's view could not be written");
    }
  }
}
