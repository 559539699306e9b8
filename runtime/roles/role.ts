/** A role of the runtime: runs until it is stopped; `failed` resolves when it can't go on by itself. */
export interface Role {
  stop(): Promise<void>;
  readonly failed: Promise<Error>;
}
