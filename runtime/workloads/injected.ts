/**
 * What webhooks and policies of the cluster add to the pods of a template: a sidecar, larger requests. Only a pod that
 * exists says it. So the first pod of a grant corrects what the Jobs with this template, and the same Job after a requeue,
 * are charged from then on. A new leader learns it again.
 */
import type { PodSpec, Quantities } from '../jobspec/pod';
import { difference, podRequests, type Requests, sum } from '../jobspec/requests';

/** Templates that are remembered. */
const MOST_TEMPLATES = 5_000;

export class InjectedRequests {
  /** Template -> what a pod of it requests beyond its template. */
  private readonly known = new Map<string, Requests>();

  /**
   * @param expected the pod as its template, and what is known of the cluster, has it
   * @param real a pod of it
   * @returns whether that is news
   */
  learn(namespace: string, expected: PodSpec, real: PodSpec): boolean {
    const added = positive(difference(podRequests(real), podRequests(expected)));
    const key = keyOf(namespace, expected);
    if (isEqual(added, this.known.get(key) ?? new Map())) return false;
    this.known.delete(key);
    if (added.size > 0) this.known.set(key, added);
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_TEMPLATES && oldest !== undefined) this.known.delete(oldest);
    return true;
  }

  /** The pod with what will be added to it, as if it were overhead; the same spec if nothing is known. */
  withAdded(namespace: string, expected: PodSpec): PodSpec {
    if (this.known.size === 0) return expected;
    const added = this.known.get(keyOf(namespace, expected));
    if (added === undefined) return expected;
    const overhead = sum([podRequests({ containers: [], overhead: expected.overhead ?? {} }), added]);
    return { ...expected, overhead: quantitiesOf(overhead) };
  }
}

/** Pods of one namespace with equal containers get the same additions. */
function keyOf(namespace: string, { containers, initContainers, overhead, resources }: PodSpec): string {
  const parts = [...containers, ...(initContainers ?? [])].map(({ name, resources: own }) => [name, own]);
  return JSON.stringify([namespace, parts, overhead, resources]);
}

function positive(requests: Requests): Requests {
  return new Map([...requests].filter(([, quantity]) => quantity > 0n));
}

function isEqual(a: Requests, b: Requests): boolean {
  return a.size === b.size && [...a].every(([name, quantity]) => b.get(name) === quantity);
}

function quantitiesOf(requests: Requests): Quantities {
  return Object.fromEntries([...requests].map(([name, quantity]) => [name, `${quantity}n`]));
}
