/**
 * The cores and GPUs that each broker offers. A CPU limit does not hide the other cores of the node from Flux, so the
 * configuration names them and turns their discovery off.
 */
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';

/** Whole CPUs of the brokers' container, at least 1; undefined if the spec has no CPU amounts. */
export function coresOf(spec: DefaultedSpec, brokerContainer: ContainerSpec): number | undefined {
  if (spec.flux.cores !== undefined) return spec.flux.cores;
  const { limits, requests } = brokerContainer.resources ?? {};
  const cpu = limits?.cpu ?? requests?.cpu ?? spec.pod.resources?.cpu;
  return cpu === undefined ? undefined : Math.max(1, Math.floor(cpus(cpu)));
}

/**
 * GPUs of the brokers' container: those of limits such as nvidia.com/gpu, and one for each claim that has gpu in its
 * name, because the number of its devices is in another object; the controller reads it and sets `flux.gpus`.
 */
export function gpusOf({ flux }: DefaultedSpec, { resources = {} }: ContainerSpec): number {
  if (flux.gpus !== undefined) return flux.gpus;
  let count = gpusOfResources(resources);
  for (const { name, request = '' } of resources.claims ?? [])
    if (/gpu/i.test(name) || /gpu/i.test(request)) count++;
  return count;
}

/** GPUs of extended resources such as nvidia.com/gpu. */
export function gpusOfResources({ requests, limits }: NonNullable<ContainerSpec['resources']>): number {
  let count = 0;
  for (const [name, quantity] of Object.entries({ ...requests, ...limits }))
    if (name.endsWith('/gpu')) count += Math.floor(cpus(quantity));
  return count;
}

const FACTOR: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3 };

/** Parses a quantity of CPUs; an invalid one counts as 0. */
function cpus(quantity: number | string): number {
  const text = String(quantity);
  const plain = Number(text);
  const count = Number.isNaN(plain) ? Number(text.slice(0, -1)) * (FACTOR[text.slice(-1)] ?? 0) : plain;
  return count > 0 ? count : 0;
}

/** Formats an idset of RFC 22, which does not allow `0-0` for one. */
export function idset(count: number): string {
  return count === 1 ? '0' : `0-${count - 1}`;
}
