/**
 * What a pass may do for one workload, in steps that are counted: a slow machine comes to the same decision as a fast one.
 */
import { FluxqError } from '../../errors';

export const TOO_COSTLY = 'FLUXQ_TOO_COSTLY';

/** One step takes about 20 ns: some 40 ms. A gang of 5,000 pods that is spread over 10,000 nodes takes 80,000 steps. */
const MOST_STEPS = 2_000_000;

export class WorkBudget {
  private spent = 0;

  constructor(private readonly most = MOST_STEPS) {}

  get isSpent(): boolean {
    return this.spent >= this.most;
  }

  /** @throws FluxqError `FLUXQ_TOO_COSTLY` if the budget does not allow so many steps more */
  spend(steps: number): void {
    this.spent += steps;
    if (this.spent <= this.most) return;
    throw new FluxqError(TOO_COSTLY, 'takes too long to place beside the pods and nodes of this cluster', {
      field: 'spec.template.spec',
      remedy: 'use fewer terms of pod affinity and topologySpreadConstraints, or fewer pods',
    });
  }

  /** Adds what another budget has spent. */
  charge({ spent }: WorkBudget): void {
    this.spent += spent;
  }
}
