/**
 * Groups of plain pods: units are granted for all pods of a group at once, and a pod has lost its gate only by the grant of
 * its group. Who the members are is read from the pods, and not by the code of the runtime.
 */
import {
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { countIdset } from '../../runtime/resources/idset';
import type { AllocatedNode } from '../../runtime/resources/types';
import type { SeenRow, Violation } from './observation';

interface Seen {
  readonly pods: readonly Pod[];
  readonly rows: readonly SeenRow[];
}

/** @param coreUnits units of a core */
export function groupViolations({ pods, rows }: Seen, coreUnits: number): Violation[] {
  const found: Violation[] = [];
  const report = (text: string) => found.push({ invariant: 'I1', text });
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const released = Map.groupBy(
    pods.filter((pod) => pod.metadata.labels?.[GROUP] !== undefined && !isGated(pod)),
    ({ metadata }) => metadata.annotations?.[GROUP_MEMBER_ANNOTATION]?.split('/')[0],
  );
  for (const [uid, members] of released) checkGroup(byUid.get(uid ?? ''), members, coreUnits, report);
  return found;
}

function checkGroup(
  row: SeenRow | undefined,
  members: readonly Pod[],
  coreUnits: number,
  report: (text: string) => void,
): void {
  const live = members.filter((pod) => !isTerminal(pod));
  for (const pod of live) {
    const why = row === undefined ? 'of no group' : notGranted(pod, row);
    if (why !== undefined) report(`${pod.metadata.name} has lost its gate: it is ${why}`);
  }
  const size = Number(members[0]?.metadata.annotations?.[GROUP_SIZE]);
  if (live.length > size) report(`${live.length} pods of a group of ${size} have lost their gates`);
  for (const { name, units } of row?.allocation?.nodes ?? []) {
    const used = live.filter((pod) => wantedNode(pod) === name).reduce((sum, pod) => sum + coresOf(pod), 0);
    const granted = countIdset(units.core ?? '') / coreUnits;
    if (used > granted)
      report(`the pods of ${row!.name} use ${used} cores of ${name}, where it has ${granted}`);
  }
}

interface Wanted {
  /** Pods of the whole group. */
  readonly size: number;
  /** Cores of its pods, one of each kind. */
  readonly cores: readonly number[];
  /** Units of a core. */
  readonly coreUnits: number;
}

/** Says how a grant is not one for all pods of the group. */
export function partialGrant(
  nodes: readonly AllocatedNode[],
  { size, cores, coreUnits }: Wanted,
): string | undefined {
  const granted = nodes.reduce((sum, { units }) => sum + countIdset(units.core ?? ''), 0) / coreUnits;
  const counts = nodes.flatMap(({ podSets }) => Object.values(podSets ?? {}));
  // A grant for equal pods says nothing of pod sets.
  const isWhole =
    counts.length > 0
      ? counts.reduce((sum, count) => sum + count, 0) === size
      : cores.some((each) => each * size === granted);
  return isWhole
    ? undefined
    : `${granted} cores were granted to a group of ${size} pods: ${JSON.stringify(nodes)}`;
}

function notGranted(pod: Pod, { phase, allocation, jobid, name }: SeenRow): string | undefined {
  if (phase !== 'Ready' && phase !== 'Running') return `of ${name}, which is ${phase}`;
  if (pod.metadata.annotations?.[JOBID_ANNOTATION] !== String(jobid)) return `of an earlier grant of ${name}`;
  const node = wantedNode(pod);
  if (allocation?.nodes.some((part) => part.name === node) === true) return undefined;
  return `on ${node}, which ${name} does not have`;
}

function wantedNode({ spec }: Pod): string | undefined {
  const [term] =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return spec.nodeName ?? term?.matchFields?.find(({ key }) => key === 'metadata.name')?.values?.[0];
}

function isGated({ spec }: Pod): boolean {
  return spec.schedulingGates?.some(({ name }) => name === GATE) === true;
}

function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function coresOf({ spec }: Pod): number {
  return Number(spec.containers[0]?.resources?.requests?.cpu);
}
