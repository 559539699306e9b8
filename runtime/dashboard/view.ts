/** What the dashboard shows of FluxJobs and nodes, as plain data for the browser. Pure functions. */
import { parseQuantity } from '../jobspec/quantity';
import type { Jobspec } from '../jobspec/types';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import type { Node } from '../kubernetes/types';
import { parseHostlist } from '../resources/hostlist';
import { countIdset } from '../resources/idset';
import type { JobView, NodeView, Share } from './messages';

/** Conditions that say more about a workload, if they are true. */
const NOTES = ['PartiallyModeled', 'SettingsReduced'] as const;
const NOT_JUDGED = { reason: 'Submitted', message: 'no pass has judged it yet' };

export function jobView({ metadata, spec, status = {} }: FluxJobObject): JobView {
  const { namespace = '', name } = metadata;
  const conditions = status.conditions ?? [];
  const { reason = NOT_JUDGED.reason, message = NOT_JUDGED.message } =
    conditions.find(({ type }) => type === 'Scheduled') ?? {};
  const notes = NOTES.flatMap((type) =>
    conditions
      .filter((condition) => condition.type === type && condition.status === 'True')
      .map((condition) => `${type}: ${condition.message}`),
  );
  const optional = {
    position: status.position,
    priority: spec.priority,
    pods: spec.pods,
    walltimeSeconds: spec.walltimeSeconds,
    started: status.startTime,
    reserved: status.estimatedStart,
    planned: status.plannedStart,
    ended: status.finishTime,
    result: status.result,
    requeues: status.requeues,
    nodes: status.nodes,
  };
  return {
    key: `${namespace}/${name}`,
    namespace,
    name: `${spec.workload.kind.toLowerCase()}/${spec.workload.name}`,
    queue: spec.queue,
    phase: status.phase ?? 'Waiting',
    reason,
    message,
    notes,
    created: metadata.creationTimestamp ?? '',
    shares: sharesOf(status, coreOf(spec)),
    ...(defined(optional) as Partial<typeof optional> & object),
  } as JobView;
}

/** Without the fields that are not there: JSON has no undefined either. */
function defined(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** At the end of a hostlist that was cut. */
const CUT = '…';

/** How many cores a unit of type core is; undefined if the FluxJob does not tell it. */
function coreOf({ jobspec }: FluxJobObject['spec']): number | undefined {
  if (jobspec === undefined) return undefined;
  const { units } = (JSON.parse(jobspec) as Jobspec).attributes.user ?? {};
  return units === undefined ? undefined : units.cpuMillis / 1000;
}

/** @param core cores of one unit */
function sharesOf(
  { phase, nodes, allocation }: NonNullable<FluxJobObject['status']>,
  core: number | undefined,
): readonly Share[] {
  if (phase !== 'Ready' && phase !== 'Running') return [];
  if (allocation === undefined)
    return (parseHostlist(nodes ?? '') ?? []).filter((node) => node !== CUT).map((node) => ({ node }));
  return allocation.map(({ node, units = {}, exclusive }) => ({
    node,
    ...(units.core === undefined || core === undefined
      ? {}
      : { cores: tenths(countIdset(units.core) * core) }),
    ...(units.gpu === undefined ? {} : { gpus: countIdset(units.gpu) }),
    ...(exclusive === true ? { exclusive } : {}),
  }));
}

const tenths = (amount: number): number => Math.round(amount * 10) / 10;

export function nodeView({ metadata, spec, status }: Node): NodeView {
  const { allocatable = {}, conditions = [] } = status ?? {};
  const isReady = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  const amount = (name: string) => tenths(Number(parseQuantity(allocatable[name] ?? 0, name)) / 1e9);
  return {
    name: metadata.name,
    cores: amount('cpu'),
    gpus: amount('nvidia.com/gpu') + amount('amd.com/gpu'),
    state: isReady ? (spec.unschedulable === true ? 'drained' : 'up') : 'down',
  };
}
