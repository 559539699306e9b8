/**
 * The requests of a pod by the rule of Kubernetes: the larger of what runs at once during its start and afterwards, or
 * pod-level requests if given, plus overhead. Limits replace requests that are not given: the apiserver does that in
 * pods, but not in pod templates.
 */
import type { Container, PodSpec, Quantities, Resources } from './pod';
import { formatQuantity, type Nano, parseQuantity } from './quantity';

/** Quantities by name of the resource. */
export type Requests = ReadonlyMap<string, Nano>;

/**
 * @param field path of the pod spec, for errors. @default 'spec'
 * @throws FluxqError `FLUXQ_QUANTITY` with the path of the quantity
 */
export function podRequests(pod: PodSpec, field = 'spec'): Requests {
  const containers = (pod.containers ?? []).map((c, i) => containerRequests(c, `${field}.containers[${i}]`));
  const init = initRequests(pod.initContainers ?? [], `${field}.initContainers`);
  const needed = larger(sum([...containers, init.sidecars]), init.peak);
  const whole = override(needed, podLevel(pod.resources ?? {}, needed, `${field}.resources`));
  return sum([whole, parse(pod.overhead ?? {}, `${field}.overhead`)]);
}

/** Init containers run one after the other, each beside the sidecars that were started before it. */
function initRequests(
  containers: readonly Container[],
  field: string,
): { sidecars: Requests; peak: Requests } {
  const sidecars = new Map<string, Nano>();
  const peak = new Map<string, Nano>();
  for (const [i, container] of containers.entries()) {
    // Only what the container itself requests can raise the peak: a copy of all for each of thousands would take seconds.
    for (const [name, quantity] of containerRequests(container, `${field}[${i}]`)) {
      const atOnce = quantity + (sidecars.get(name) ?? 0n);
      if (atOnce >= (peak.get(name) ?? 0n)) peak.set(name, atOnce);
      if (container.restartPolicy === 'Always') sidecars.set(name, atOnce);
    }
  }
  return { sidecars, peak };
}

function containerRequests({ resources = {} }: Container, field: string): Requests {
  return override(
    parse(resources.limits ?? {}, `${field}.resources.limits`),
    parse(resources.requests ?? {}, `${field}.resources.requests`),
  );
}

/** Only these resources are allowed at pod level. A pod-level limit counts if no container requests the resource. */
function podLevel({ requests = {}, limits = {} }: Resources, needed: Requests, field: string): Requests {
  const given = parse(requests, `${field}.requests`);
  const implied = [...parse(limits, `${field}.limits`)].filter(([name]) => !needed.has(name));
  return new Map([...implied, ...given].filter(([name]) => /^(cpu|memory|hugepages-.+)$/.test(name)));
}

function parse(quantities: Quantities, field: string): Requests {
  return new Map(
    Object.entries(quantities).map(([name, q]) => [name, parseQuantity(q, `${field}["${name}"]`)]),
  );
}

/** The sum of all parts. */
export function sum(parts: readonly Requests[]): Requests {
  const total = new Map<string, Nano>();
  for (const [name, quantity] of parts.flatMap((part) => [...part])) {
    total.set(name, (total.get(name) ?? 0n) + quantity);
  }
  return total;
}

function larger(a: Requests, b: Requests): Requests {
  const result = new Map(a);
  for (const [name, quantity] of b) {
    const other = result.get(name);
    result.set(name, other !== undefined && other > quantity ? other : quantity);
  }
  return result;
}

function override(base: Requests, by: Requests): Requests {
  return new Map([...base, ...by]);
}

/** What is left of the first; less than nothing counts as nothing. */
export function difference(requests: Requests, less: Requests): Requests {
  return new Map(
    [...requests].map(([name, quantity]) => {
      const left = quantity - (less.get(name) ?? 0n);
      return [name, left > 0n ? left : 0n] as const;
    }),
  );
}

/** As Kubernetes writes them, sorted by name; what is zero is left out. */
export function quantitiesOf(requests: Requests): Readonly<Record<string, string>> {
  const written = [...requests]
    .filter(([, amount]) => amount > 0n)
    .map(([name, amount]) => [name, formatQuantity(amount, { binary: name === 'memory' })] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(written);
}
