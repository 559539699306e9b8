/** Why quota or a limit keeps a workload from starting now. */
export interface QuotaShortage {
  readonly message: string;
  /** Whether it exceeds the quota even if nothing else runs. */
  readonly never: boolean;
  /** Whether it would fit if other queues of the cohort had not borrowed this queue's own quota. */
  readonly lent: boolean;
  /** Whether only the limit of its user is in the way. */
  readonly ofUser: boolean;
  /** Whether its queue would borrow what others of its cohort use: all that would do so wait in one line. */
  readonly ofCohort: boolean;
}

export function neverShortage(message: string): QuotaShortage {
  return { message, never: true, lent: false, ofUser: false, ofCohort: false };
}

/** Why an allocation is more than an account has left. */
export type Refusal = Pick<QuotaShortage, 'message' | 'ofCohort'>;
