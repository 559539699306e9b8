/** When rows and objects are compared: with a pass, in an interval, on request, and after the rows were read again. */
import type { SchedulingLoopOptions } from './loop-options';

/** A suspected difference is checked again after this: longer than any watch lags behind. */
const SUSPECT_MS = 6_000;

export class Audits {
  private dueAt: number;
  private confirmAt = Number.POSITIVE_INFINITY;
  private isRequested = false;
  /** Whether the rows were read again, and not compared since. */
  private isReloaded = false;

  constructor(
    private readonly options: Pick<SchedulingLoopOptions, 'audit' | 'auditMs' | 'clock' | 'onReloaded'>,
  ) {
    this.dueAt = options.clock.now() + options.auditMs;
  }

  request(): void {
    this.isRequested = true;
  }

  reloaded(): void {
    this.isReloaded = true;
    this.request();
  }

  /** Milliseconds until the next one is due by time alone. */
  get untilNext(): number {
    return Math.min(this.dueAt, this.confirmAt) - this.options.clock.now();
  }

  /** @returns whether everything was compared */
  async run(): Promise<boolean> {
    const isDue = this.isRequested || this.options.clock.now() >= this.dueAt;
    if (isDue) await this.compare();
    else if (this.options.clock.now() >= this.confirmAt) {
      await this.options.audit.confirm();
      this.confirmAt = Number.POSITIVE_INFINITY;
    }
    return isDue;
  }

  private async compare(): Promise<void> {
    const { audit, auditMs, clock, onReloaded } = this.options;
    // What is requested from now on may be about what was compared already.
    this.isRequested = false;
    try {
      const hasSuspects = await audit.compare(this.isReloaded);
      this.dueAt = clock.now() + auditMs;
      this.confirmAt = hasSuspects ? clock.now() + SUSPECT_MS : Number.POSITIVE_INFINITY;
    } catch (error) {
      this.request();
      throw error;
    }
    // Grants whose nodes are in use were taken back: none of them is released by a reconcile that this begins.
    if (this.isReloaded) onReloaded();
    this.isReloaded = false;
  }
}
