import type { Clock } from '../clock';

/** Measures the phases of one pass. A phase ends when the next one starts. */
export class PhaseTimer<Phase extends string> {
  private readonly milliseconds = new Map<Phase, number>();
  private current: { readonly phase: Phase; readonly since: number } | undefined;

  constructor(private readonly clock: Clock) {}

  /** Starts a phase; a phase that is started again adds up. */
  start(phase: Phase): void {
    this.end();
    this.current = { phase, since: this.clock.now() };
  }

  /** Ends the last phase. @returns milliseconds by phase, in the order in which they were started first */
  stop(): Readonly<Partial<Record<Phase, number>>> {
    this.end();
    const rounded = [...this.milliseconds].map(([phase, ms]) => [phase, Math.round(ms * 10) / 10]);
    return Object.fromEntries(rounded) as Partial<Record<Phase, number>>;
  }

  private end(): void {
    if (this.current === undefined) return;
    const { phase, since } = this.current;
    this.milliseconds.set(phase, (this.milliseconds.get(phase) ?? 0) + this.clock.now() - since);
    this.current = undefined;
  }
}
