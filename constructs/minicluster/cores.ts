/**
 * The cores each broker offers. A CPU limit does not hide the node's other
 * cores from Flux, so they are said in its configuration, and it is told not to look.
 */
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';

/** Whole CPUs of the runner, at least 1; undefined where the spec names none. */
export function coresOf(spec: DefaultedSpec, runner: ContainerSpec): number | undefined {
  if (spec.flux.cores !== undefined) return spec.flux.cores;
  const { limits, requests } = runner.resources ?? {};
  const cpu = limits?.cpu ?? requests?.cpu ?? spec.pod.resources?.cpu;
  return cpu === undefined ? undefined : Math.max(1, Math.floor(cpus(cpu)));
}

const FACTOR: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3 };

/** A quantity of CPUs; what it can't read counts as none. */
function cpus(quantity: number | string): number {
  const text = String(quantity);
  const plain = Number(text);
  const count = Number.isNaN(plain) ? Number(text.slice(0, -1)) * (FACTOR[text.slice(-1)] ?? 0) : plain;
  return count > 0 ? count : 0;
}

/** RFC 22: a range of one is written without a dash, `0-0` is refused. */
export function coreSet(cores: number): string {
  return cores === 1 ? '0' : `0-${cores - 1}`;
}
