/** What one reader can cost the others: how many requests run at once, of all and of each user, or of all ServiceAccounts of a namespace. */
import { Refusal } from './status';

export interface SlotLimits {
  readonly all: number;
  readonly user: number;
}

export class RequestSlots {
  private all = 0;
  private readonly users = new Map<string, number>();

  constructor(private readonly limits: SlotLimits) {}

  /** @returns ends the use of the slot; a second call does nothing @throws Refusal 429 */
  take(username: string): () => void {
    const user = payerOf(username);
    const own = this.users.get(user) ?? 0;
    if (own >= this.limits.user)
      throw new Refusal(429, `${own} requests of ${user} are in progress already; try again later`);
    if (this.all >= this.limits.all)
      throw new Refusal(429, `${this.all} requests are in progress already; try again later`);
    this.all++;
    this.users.set(user, own + 1);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.all--;
      const left = this.users.get(user)! - 1;
      if (left === 0) this.users.delete(user);
      else this.users.set(user, left);
    };
  }
}

/** Whoever may edit a namespace makes any number of ServiceAccounts there. */
function payerOf(username: string): string {
  return username.replace(/^(system:serviceaccount:[^:]+):.*$/, '$1');
}
