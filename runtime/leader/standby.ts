/**
 * What a replica does while it does not lead: it keeps the watches of the next term open, because reading all objects of
 * a large cluster takes longer than everything else at the start of a term.
 */
import { Informers } from '../shared/informers';
import { podFacts } from '../workloads/pod-facts';
import type { TermOptions } from './shared';

export class Standby {
  private informers: Informers | undefined;
  private stopped = false;

  constructor(private readonly options: Required<Pick<TermOptions, 'client' | 'logger' | 'time'>>) {}

  /** Opens the watches, unless they are open. Nobody waits for them. */
  warmUp(): void {
    if (this.stopped || this.informers !== undefined) return;
    this.informers = new Informers({ ...this.options, podFacts });
    this.informers.warmUp();
  }

  /** Whether the watches have read everything, so that a term could start with them. */
  get isWarm(): boolean {
    return this.informers?.isSynced ?? false;
  }

  /** The watches for a term, which stops them at its end; empty if there are none. */
  take(): Pick<TermOptions, 'informers'> {
    const { informers } = this;
    this.informers = undefined;
    return informers === undefined ? {} : { informers };
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.take().informers?.stop();
  }
}
