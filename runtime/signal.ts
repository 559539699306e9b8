/**
 * A typed notification to any number of subscribers. A signal is a hint: it says that something changed, and its
 * subscribers read the current state themselves.
 */
export class Signal<T = void> {
  private readonly listeners: ((value: T) => void)[] = [];

  /** Calls the listener at every later `emit`. Listeners run in the order of their subscription and must not throw. */
  subscribe(listener: (value: T) => void): void {
    this.listeners.push(listener);
  }

  emit(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
}
