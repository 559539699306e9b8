/** The part of the in-memory model of the queue that is not about rows, and what it does not support. */
import type { Succession } from '../../runtime/queue/successions';
import type { NewSubmission } from '../../runtime/queue/workload';

export abstract class QueueModelBase {
  /** By uid of the evicted pod. */
  private readonly evicted = new Map<string, Succession>();

  /** @throws FluxqError FLUXQ_FENCED */
  protected abstract check(fence: number): void;

  async successions(): Promise<Succession[]> {
    return [...this.evicted.values()].sort((a, b) => a.at - b.at);
  }

  async rememberSuccession(fence: number, succession: Succession): Promise<void> {
    this.check(fence);
    this.evicted.set(succession.predecessor.uid, succession);
  }

  protected succeeded({ predecessor = '' }: NewSubmission): void {
    this.evicted.delete(predecessor);
  }

  async history(): Promise<never> {
    throw new Error('the event log is read as it is');
  }

  async historyOf(): Promise<never> {
    throw new Error('the event log is read as it is');
  }

  async accounting(): Promise<never> {
    throw new Error('the model does not support accounting');
  }

  async traced(): Promise<never> {
    throw new Error('the model does not support traces');
  }

  /** A simulation is too short for the archive. */
  async archive(): Promise<number> {
    return 0;
  }

  async purge(): Promise<number> {
    return 0;
  }

  async sizes(): Promise<never[]> {
    return [];
  }

  /** Fair share is off in a simulation. */
  async shares(): Promise<[]> {
    return [];
  }
}
