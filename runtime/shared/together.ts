/** Collects the values of one turn, such as the objects of a page of a list, and handles them at its end. */
export function together<T>(handle: (values: ReadonlySet<T>) => void): (value: T) => void {
  let collected = new Set<T>();
  return (value) => {
    if (collected.size === 0)
      queueMicrotask(() => {
        const values = collected;
        collected = new Set();
        handle(values);
      });
    collected.add(value);
  };
}
