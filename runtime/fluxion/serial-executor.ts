/** One call at a time, in order of arrival: Fluxion is not thread-safe and its answers depend on the order. */
export class SerialExecutor {
  private tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.tail.then(work);
    // The next call runs whatever became of this one; its own caller sees the error.
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything that was asked for before has ended. */
  async idle(): Promise<void> {
    await this.tail;
  }
}
