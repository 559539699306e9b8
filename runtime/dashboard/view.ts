/** What the dashboard shows of FluxJobs and nodes, as plain data for the browser. Pure functions. */
import { nameOf, nodesOf, notesOf, scheduled, submittedAt, userPartOf } from '../fluxjobs/reading';
import { parseQuantity } from '../jobspec/quantity';
import { isTrue } from '../kubernetes/conditions';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import type { Node } from '../kubernetes/types';
import { countIdset } from '../resources/idset';
import type { JobView, NodeView, Share } from './messages';

export function jobView(fluxJob: FluxJobObject): JobView {
  const { metadata, spec, status = {} } = fluxJob;
  const { namespace = '', name } = metadata;
  const optional = {
    position: status.position,
    priority: spec.priority,
    pods: spec.pods,
    walltimeSeconds: spec.walltimeSeconds,
    started: status.startTime,
    reserved: status.estimatedStart,
    planned: status.plannedStart,
    likely: status.likelyStart,
    ends: status.endTime,
    ended: status.finishTime,
    result: status.result,
    requeues: status.requeues,
    nodes: status.nodes,
  };
  return {
    key: `${namespace}/${name}`,
    namespace,
    name: nameOf(fluxJob),
    queue: spec.queue,
    phase: status.phase ?? 'Waiting',
    ...scheduled(fluxJob),
    notes: notesOf(fluxJob),
    created: submittedAt(fluxJob) ?? '',
    shares: sharesOf(fluxJob),
    ...(defined(optional) as Partial<typeof optional> & object),
  } as JobView;
}

/** Without the fields that are not there: JSON has no undefined either. */
function defined(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** How many cores a unit of type core is; undefined if the FluxJob does not tell it. */
function coreOf({ spec }: FluxJobObject): number | undefined {
  const units = userPartOf(spec)?.units;
  return units === undefined ? undefined : units.cpuMillis / 1000;
}

function sharesOf(fluxJob: FluxJobObject): readonly Share[] {
  const { phase, allocation } = fluxJob.status ?? {};
  if (phase !== 'Ready' && phase !== 'Running') return [];
  if (allocation === undefined) return nodesOf(fluxJob).map((node) => ({ node }));
  const core = coreOf(fluxJob);
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
  const { allocatable = {}, conditions } = status ?? {};
  const amount = (name: string) => tenths(Number(parseQuantity(allocatable[name] ?? 0, name)) / 1e9);
  return {
    name: metadata.name,
    cores: amount('cpu'),
    gpus: amount('nvidia.com/gpu') + amount('amd.com/gpu'),
    state: isTrue(conditions, 'Ready') ? (spec.unschedulable === true ? 'drained' : 'up') : 'down',
  };
}
