/** In which orders the pod sets of a gang are placed, one after the other, until all of them find room. */

export interface Placed<S> {
  readonly complete: boolean;
  /** The first pod set for which there was no room. @default - there was room for all */
  readonly failed?: S | undefined;
}

interface SetRules {
  /** Whether its pods need pods that are there before them. */
  readonly follows: boolean;
}

/**
 * A pod set that finds no room behind others is tried as the first one; one that needs pods of others as the last one. Gives up where a
 * pod set finds no room although nothing of the gang is there before it.
 * @returns the first complete answer; else the last one
 */
export function placeInOrders<S extends SetRules, P extends Placed<S>>(
  sets: readonly S[],
  place: (order: readonly S[]) => P,
): P {
  let order: readonly S[] = [
    ...sets.filter(({ follows }) => !follows),
    ...sets.filter(({ follows }) => follows),
  ];
  let answer = place(order);
  const moved = new Set<S>();
  while (!answer.complete) {
    const { failed } = answer;
    if (failed === undefined || moved.has(failed)) break;
    moved.add(failed);
    const others = order.filter((set) => set !== failed);
    const next = failed.follows ? [...others, failed] : [failed, ...others];
    if (next.every((set, i) => set === order[i])) break;
    order = next;
    answer = place(order);
  }
  return answer;
}
