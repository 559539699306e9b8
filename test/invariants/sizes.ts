/**
 * Size as an invariant of its own (I1): on each node the pods of a workload request at most what was granted to it there. What
 * somebody enlarged by a way that the queue cannot close is beyond it, and then it is shown and held at once. Requests are summed
 * here by Kubernetes' rule and not by the code of the runtime, which has to agree.
 */
import { parseConfig } from '../../runtime/config';
import type { Pod } from '../../runtime/kubernetes/types';
import { countIdset } from '../../runtime/resources/idset';
import type { AllocatedNode } from '../../runtime/resources/types';
import type { Observation, SeenRow, Violation } from './observation';

type Container = Pod['spec']['containers'][number];

const { cpuMillis, memoryMiB } = parseConfig({}).units;
/** Job ids from here on stand for units that are used without a grant. */
const FIRST_UNMANAGED_JOBID = 2 ** 52;

/** Millicores and MiB. */
interface Size {
  readonly cpu: number;
  readonly memory: number;
}

interface Used {
  readonly row: SeenRow;
  readonly part: AllocatedNode;
  /** Pods that were not asked to end. */
  live: Size;
  /** All that have not ended. */
  all: Size;
}

/** @param rows those with a grant */
export function sizeViolations(seen: Observation): Violation[] {
  const found: Violation[] = [];
  const report = (text: string) => found.push({ invariant: 'I1', text });
  const used = usedByGrant(seen);
  for (const each of used) {
    const { row, part, live } = each;
    const beyond = beyondGrant(live, part);
    if (beyond === undefined) continue;
    if (seen.enlarged?.has(row.uid) !== true)
      report(`${row.name} uses ${textOf(live)} of ${part.name}, where it has ${textOf(grantOf(part))}`);
    else {
      if (!isShown(seen, row.uid))
        report(`${row.name} uses more of ${part.name}, and its FluxJob does not say so`);
      checkFluxion(seen, each, beyond, report);
    }
  }
  const explained = new Set(used.filter(({ all, part }) => beyondGrant(all, part)).map(({ row }) => row.uid));
  for (const { uid, name, phase } of seen.rows)
    if (phase === 'Running' && isShown(seen, uid) && seen.records !== undefined && !explained.has(uid))
      report(`the FluxJob of ${name} says that it uses more, and it does not`);
  return found;
}

/** What the pods of each grant request of its nodes, and of nodes on which it has nothing. */
function usedByGrant({ rows, pods, nodes }: Observation): readonly Used[] {
  const existing = new Set(nodes.map(({ metadata }) => metadata.name));
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const found = new Map<string, Used>();
  for (const pod of pods) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue;
    const row = byUid.get(pod.metadata.uid) ?? byUid.get(pod.metadata.ownerReferences?.[0]?.uid ?? '');
    const { nodeName: name = '' } = pod.spec;
    const granted = row?.allocation?.nodes.find((each) => each.name === name);
    const part = granted ?? (existing.has(name) ? { name, units: {} } : undefined);
    if (row === undefined || part === undefined || !['Ready', 'Running'].includes(row.phase)) continue;
    const key = `${row.uid} ${part.name}`;
    const used = found.get(key) ?? { row, part, live: NOTHING, all: NOTHING };
    const size = sizeOf(pod);
    used.all = sum(used.all, size);
    if (pod.metadata.deletionTimestamp === undefined) used.live = sum(used.live, size);
    found.set(key, used);
  }
  return [...found.values()];
}

const NOTHING: Size = { cpu: 0, memory: 0 };
const sum = (a: Size, b: Size): Size => ({ cpu: a.cpu + b.cpu, memory: a.memory + b.memory });
const most = (a: Size, b: Size): Size => ({
  cpu: Math.max(a.cpu, b.cpu),
  memory: Math.max(a.memory, b.memory),
});
const textOf = ({ cpu, memory }: Size) => `${cpu}m and ${memory} MiB`;

/** Containers and sidecars run together; another init container runs beside the sidecars before it. */
function sizeOf({ spec }: Pod): Size {
  let sidecars = NOTHING;
  let starting = NOTHING;
  for (const container of spec.initContainers ?? []) {
    const size = requestOf(container);
    if (container.restartPolicy === 'Always') sidecars = sum(sidecars, size);
    else starting = most(starting, sum(sidecars, size));
  }
  return most(starting, spec.containers.map(requestOf).reduce(sum, sidecars));
}

function requestOf({ resources }: Container): Size {
  const { cpu = '0', memory = '0' } = (resources?.requests ?? {}) as Record<string, string>;
  return {
    cpu: cpu.endsWith('m') ? Number.parseInt(cpu, 10) : Number(cpu) * 1000,
    memory: mebibytes(memory),
  };
}

function mebibytes(text: string): number {
  const factor = { Gi: 1024, Mi: 1, Ki: 1 / 1024 }[text.slice(-2)];
  return factor === undefined ? Number(text) / 2 ** 20 : Number(text.slice(0, -2)) * factor;
}

function grantOf({ units }: AllocatedNode): Size {
  const count = (type: string) => (units[type] === undefined ? 0 : countIdset(units[type]));
  return { cpu: count('core') * cpuMillis, memory: count('memory') * memoryMiB };
}

/** @returns undefined if all is within the grant */
function beyondGrant(used: Size, part: AllocatedNode): Size | undefined {
  if (part.exclusive === true) return undefined;
  const granted = grantOf(part);
  const beyond = { cpu: used.cpu - granted.cpu, memory: used.memory - granted.memory };
  return beyond.cpu > 0 || beyond.memory > 0 ? beyond : undefined;
}

/** Whether the FluxJob says it; true where FluxJobs are not observed. */
function isShown({ records }: Observation, uid: string): boolean {
  if (records === undefined) return true;
  const record = records.find(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  return record?.status?.conditions?.some(({ type }) => type === 'MoreThanGranted') === true;
}

/** What is used beyond a grant is granted to nobody, as far as its node has free units. */
function checkFluxion(
  { fluxion }: Observation,
  { row, part }: Used,
  beyond: Size,
  report: (text: string) => void,
): void {
  const coresOf = (isCounted: (jobid: number) => boolean) =>
    fluxion.jobs
      .filter(({ jobid }) => isCounted(jobid))
      .flatMap(({ nodes }) => nodes.filter(({ name }) => name === part.name))
      .reduce((total, node) => total + grantOf(node).cpu / cpuMillis, 0);
  const node = fluxion.nodes.find(({ name }) => name === part.name);
  // On a node that is down nothing is granted, and Fluxion takes no new job there.
  if (node === undefined || !node.up) return;
  const free = (node.total.core ?? 0) - coresOf((jobid) => jobid < FIRST_UNMANAGED_JOBID);
  const expected = Math.min(Math.floor(beyond.cpu / cpuMillis), free);
  const held = coresOf((jobid) => jobid >= FIRST_UNMANAGED_JOBID);
  if (held < expected)
    report(
      `${row.name} uses ${expected} more units of ${part.name}, and Fluxion holds ${held} outside grants`,
    );
}
