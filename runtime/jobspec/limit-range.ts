/**
 * The requests that a LimitRange gives containers that have none. The apiserver gives them to pods only, but a gang is
 * planned from the pod template of its Job: without them twenty pods that ask for nothing would fit one core.
 */
import type { Container, PodSpec, Quantities } from './pod';
import { parseQuantity } from './quantity';

/** A LimitRange as the apiserver stores it: `defaultRequest` has the values of `default`, too. */
export interface LimitRangeFields {
  readonly spec: {
    readonly limits: readonly { readonly type: string; readonly defaultRequest?: Quantities }[];
  };
}

/** @returns the spec with the requests that its containers get; the same spec if they get none */
export function withLimitRanges(pod: PodSpec, ranges: readonly LimitRangeFields[]): PodSpec {
  const defaults = defaultRequests(ranges);
  if (Object.keys(defaults).length === 0) return pod;
  const filled = (container: Container): Container => {
    const { requests, limits } = container.resources ?? {};
    // A limit of the container's own is its request, too: see requests.ts.
    const missing = Object.entries(defaults).filter(
      ([name]) => requests?.[name] === undefined && limits?.[name] === undefined,
    );
    if (missing.length === 0) return container;
    return {
      ...container,
      resources: { ...container.resources, requests: { ...Object.fromEntries(missing), ...requests } },
    };
  };
  return {
    ...pod,
    containers: pod.containers.map(filled),
    ...(pod.initContainers && { initContainers: pod.initContainers.map(filled) }),
  };
}

/** Kubernetes does not say which of several LimitRanges comes first, so the largest counts: a grant must hold the pods. */
function defaultRequests(ranges: readonly LimitRangeFields[]): Quantities {
  const defaults: Record<string, string | number> = {};
  for (const { spec } of ranges)
    for (const { type, defaultRequest = {} } of spec.limits) {
      if (type !== 'Container') continue;
      for (const [name, quantity] of Object.entries(defaultRequest)) {
        const other = defaults[name];
        if (other === undefined || parse(quantity) > parse(other)) defaults[name] = quantity;
      }
    }
  return defaults;
}

function parse(quantity: string | number): bigint {
  return parseQuantity(quantity, 'LimitRange.spec.limits.defaultRequest');
}
