/** Runs random steps on a matcher and records the jobs as a caller does. */
import type { Granted, Matcher, MatchOutcome } from '../../../runtime/fluxion/matcher/matcher';
import type { Step } from './arbitraries';

export interface HeldJob {
  readonly id: number;
  readonly start: number;
  end: number;
  readonly reserved: boolean;
  held: readonly string[];
}

export class Player {
  now = 0;
  readonly held = new Map<number, HeldJob>();
  private lastId = 0;

  constructor(
    readonly matcher: Matcher,
    private readonly nodes: number,
  ) {}

  /** Runs a step. @returns the answer */
  play(step: Step): unknown {
    switch (step.do) {
      case 'match':
        return this.match(step);
      case 'cancel': {
        const id = this.nth(step.nth);
        if (id !== undefined) this.cancel(id);
        return id;
      }
      case 'partial': {
        const id = this.nth(step.nth);
        return id === undefined ? undefined : this.partial(id, `n${step.node % this.nodes}`);
      }
      case 'status':
        this.matcher.setStatus(`n${step.node % this.nodes}`, step.up);
        return undefined;
      case 'wait':
        this.wait(step.seconds);
        return undefined;
    }
  }

  private match({ jobspec, operation }: Step & { readonly do: 'match' }): MatchOutcome {
    const jobid = ++this.lastId;
    const outcome = this.matcher.match({ jobid, jobspec, operation, now: this.now });
    const holds = operation !== 'without_allocating' && operation !== 'without_allocating_future';
    if (outcome.status === 'OK' && holds) this.held.set(jobid, heldJobOf(jobid, outcome));
    return outcome.status === 'OK' ? { ...outcome, held: outcome.held } : outcome;
  }

  cancel(id: number): void {
    this.matcher.cancel(id);
    this.held.delete(id);
  }

  private partial(id: number, node: string): boolean {
    const job = this.held.get(id)!;
    const gone = this.matcher.partialCancel(id, [node]);
    job.held = job.held.filter((path) => !`${path}/`.includes(`/${node}/`));
    if (gone) this.held.delete(id);
    return gone;
  }

  /** Drops reservations before time moves, as in a scheduling pass. */
  private wait(seconds: number): void {
    for (const { id, reserved } of this.held.values()) if (reserved) this.cancel(id);
    this.now += seconds;
    for (const job of this.held.values()) job.end = Math.max(job.end, this.now + 1);
  }

  private nth(n: number): number | undefined {
    const ids = [...this.held.keys()];
    return ids.length === 0 ? undefined : ids[n % ids.length];
  }
}

function heldJobOf(id: number, { start, end, reserved, held }: Granted): HeldJob {
  return { id, start, end, reserved, held };
}
