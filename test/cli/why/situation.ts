import type { World } from './world';

/** One row of the table: what has happened to the Job `mine`, and what `why` says of it then. */
export interface Situation {
  /** Why: a clause that begins with `it` or `its`. */
  readonly because: string;
  /** Of its FluxJob's condition Scheduled. */
  readonly reason: string;
  /** Workload kinds whose objects the controller watches. @default - none */
  readonly kinds?: readonly string[];
  readonly arrange: (world: World) => Promise<void> | void;
  readonly prints: readonly string[];
}
