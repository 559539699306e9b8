/** Who uses the queue: what runs and waits, from FluxJobs. Pure functions. */
import { nodesOf, userPartOf } from '../fluxjobs/reading';
import { formatQuantity, type Nano, parseQuantity } from '../jobspec/quantity';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import type { Picture } from './picture';

export const TOP_KEYS = ['queue', 'user', 'namespace'] as const;
export type TopKey = (typeof TOP_KEYS)[number];

interface Share {
  count: number;
  pods: number;
  /** Undefined: that of some workload is not known. */
  cpu: Nano | undefined;
  readonly nodes: Set<string>;
}

interface Group {
  readonly names: readonly string[];
  readonly running: Share;
  readonly waiting: Share;
}

const HEAD = ['RUNNING', 'NODES', 'PODS', 'CPU', 'WAITING', 'WAITING-PODS', 'WAITING-CPU'];

/** @param users of the workloads by uid */
export function topPicture(
  fluxJobs: readonly FluxJobObject[],
  users: ReadonlyMap<string, string>,
  keys: readonly TopKey[],
): Picture {
  const rows = groupsOf(fluxJobs, users, keys).map(({ names, running, waiting }) => {
    const cells = [...names, ...cellsOf(running, `${running.nodes.size}`), ...cellsOf(waiting)];
    return { key: names.join('\n'), cells, state: cells.join('\n'), gone: [...names, ...NOTHING] };
  });
  return { head: [...keys.map((key) => key.toUpperCase()), ...HEAD], rows };
}

const NOTHING = ['0', '0', '0', '0', '0', '0', '0'];

/** Those who use most come first. */
function groupsOf(
  fluxJobs: readonly FluxJobObject[],
  users: ReadonlyMap<string, string>,
  keys: readonly TopKey[],
): Group[] {
  const groups = new Map<string, Group>();
  for (const fluxJob of fluxJobs) {
    const phase = fluxJob.status?.phase ?? 'Waiting';
    if (phase === 'Finished') continue;
    const names = keys.map((key) => nameIn(fluxJob, key, users));
    const id = names.join('\n');
    const group = groups.get(id) ?? { names, running: nothing(), waiting: nothing() };
    groups.set(id, group);
    add(phase === 'Waiting' ? group.waiting : group.running, fluxJob);
  }
  return [...groups.values()].sort(
    (a, b) =>
      Number((b.running.cpu ?? 0n) - (a.running.cpu ?? 0n)) ||
      b.running.pods - a.running.pods ||
      b.waiting.pods - a.waiting.pods ||
      a.names.join().localeCompare(b.names.join(), 'en'),
  );
}

function nameIn({ spec, metadata }: FluxJobObject, key: TopKey, users: ReadonlyMap<string, string>): string {
  if (key === 'queue') return spec.queue;
  return (key === 'user' ? users.get(spec.workload.uid) : metadata.namespace) ?? '-';
}

function nothing(): Share {
  return { count: 0, pods: 0, cpu: 0n, nodes: new Set() };
}

function add(share: Share, fluxJob: FluxJobObject): void {
  const { spec } = fluxJob;
  const cpu = cpuOf(spec);
  share.count += 1;
  share.pods += spec.pods ?? 0;
  share.cpu = cpu === undefined || share.cpu === undefined ? undefined : share.cpu + cpu;
  for (const node of nodesOf(fluxJob)) share.nodes.add(node);
}

/** What its pods request; undefined if an earlier release did not note that. An Invalid workload requests nothing. */
function cpuOf(spec: FluxJobObject['spec']): Nano | undefined {
  const { jobspec, pods = 0 } = spec;
  if (jobspec === undefined) return 0n;
  const requests = userPartOf(spec)?.requests;
  return requests === undefined
    ? undefined
    : parseQuantity(requests.cpu ?? '0', 'requests.cpu') * BigInt(pods);
}

function cellsOf({ count, pods, cpu }: Share, ...nodes: readonly string[]): string[] {
  return [`${count}`, ...nodes, `${pods}`, cpu === undefined ? '?' : formatQuantity(cpu, { binary: false })];
}
