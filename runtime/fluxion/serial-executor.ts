/** Runs one call at a time in order of arrival: Fluxion is not thread-safe and its answers depend on the order. */
export class SerialExecutor {
  private tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.tail.then(work);
    // A failed call does not stop the next one; its own caller gets the error.
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all calls made so far have ended. */
  async idle(): Promise<void> {
    await this.tail;
  }
}
