/** A process of the runtime. It runs until it is stopped; `failed` resolves when it can't continue. */
export interface Role {
  stop(): Promise<void>;
  readonly failed: Promise<Error>;
}
