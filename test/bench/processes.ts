/** The work of the processes of a stack, from /proc and from the metrics of the controller. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Cluster } from '../cluster/cluster';
import type { RoleProcess } from '../stack/roles';
import type { Stack } from '../stack/stack';

const PROGRAMS = ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
const CLOCK_TICKS = 100;

/** CPU seconds since the start, by process: the control plane, Postgres and the roles. */
export function cpuSeconds(stack: Stack, roles: Readonly<Record<string, RoleProcess | undefined>>) {
  const cpu = controlPlaneSeconds(stack.cluster);
  for (const [name, role] of Object.entries(roles))
    if (role !== undefined) cpu[name] = ownSeconds(role.process.pid);
  cpu.postgres = stack.postgres.pids.reduce((sum, pid) => sum + treeSeconds(pid), 0);
  return cpu;
}

/** CPU seconds since the start, by program of the control plane. */
export function controlPlaneSeconds(cluster: Pick<Cluster, 'component'>): Record<string, number> {
  return Object.fromEntries(PROGRAMS.map((program) => [program, ownSeconds(cluster.component(program).pid)]));
}

/** @returns what was used between two calls of {@link cpuSeconds} */
export function usedBetween(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
) {
  return Object.fromEntries(Object.entries(after).map(([name, cpu]) => [name, cpu - (before[name] ?? 0)]));
}

export function sum(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}

/** utime and stime; with those of its children that have ended. */
function statOf(pid: number) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! };
}

function ownSeconds(pid: number): number {
  return statOf(pid).own / CLOCK_TICKS;
}

/** CPU of the threads that a process has now, to the nanosecond: the ticks of {@link ownSeconds} are 10 ms. */
export function threadMilliseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((total, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return total + Number(nanoseconds) / 1e6;
  }, 0);
}

/** A process and its children: Postgres has one for each connection. */
function treeSeconds(pid: number): number {
  const { own, ended } = statOf(pid);
  const children = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && parentOf(entry) === pid);
  const ofChildren = children.reduce((total, child) => total + ownOrNone(child), 0);
  return (own + ended) / CLOCK_TICKS + ofChildren;
}

/** A process may end at any moment. */
function parentOf(pid: string): number | undefined {
  try {
    return statOf(Number(pid)).parent;
  } catch {
    return undefined;
  }
}

function ownOrNone(pid: string): number {
  try {
    return ownSeconds(Number(pid));
  } catch {
    return 0;
  }
}

export function rssMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

export interface Writes {
  /** Without Events. */
  readonly writes: number;
  readonly events: number;
  /** By verb, resource and status, also Events. */
  readonly byKind: ReadonlyMap<string, number>;
}

const WRITES = new Set(['create', 'update', 'patch', 'apply', 'delete']);

/** Writes of a controller to the apiserver since its start. */
export async function writesOf(controller: RoleProcess): Promise<Writes> {
  const byKind = new Map<string, number>();
  let writes = 0;
  let events = 0;
  for (const line of (await controller.metrics()).split('\n')) {
    const match = /^fluxqueue_kubernetes_requests_total\{verb="(\w+)",resource="([^"]+)"(.*)\} (\d+)/.exec(
      line,
    );
    // Leader election updates its Lease every two seconds, independent of the load.
    if (match === null || !WRITES.has(match[1]!) || match[2] === 'leases') continue;
    const [, verb, resource, status, number] = match;
    byKind.set(`${verb} ${resource} ${status?.replace(/[^0-9]/g, '')}`, Number(number));
    if (resource === 'events') events += Number(number);
    else writes += Number(number);
  }
  return { writes, events, byKind };
}
