/** From a pod template to the jobspec that Fluxion is asked for. */
import { createHash } from 'node:crypto';
import { FluxqError } from '../errors';
import type { UnitCounts } from '../resources/types';
import { type ClusterFacts, constraintOf, NO_FACTS } from './constraints';
import type { PodSpec } from './pod';
import { podRequests } from './requests';
import type { Jobspec, JobspecResource } from './types';
import { DEFAULT_UNITS, type UnitSettings, unitsOf } from './units';

export interface JobspecOptions {
  /** Spec of the pod template. */
  readonly pod: PodSpec;
  /** How many of these pods run at once, at least 1. */
  readonly pods: number;
  /** Seconds, finite, > 0. */
  readonly walltime: number;
  /** A whole node for each pod, shared with nobody. @default false */
  readonly exclusive?: boolean;
  /** @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /** What the nodes carry. @default - no taints; labels only by exact value */
  readonly cluster?: ClusterFacts;
  /** Where the pod spec stands in the user's object, for errors. @default 'spec.template.spec' */
  readonly field?: string;
}

/** The slot's label; a slot is one pod. */
const SLOT = 'pod';

/**
 * One slot per pod, side by side anywhere in the cluster, several on a node
 * where they fit; or with `exclusive` one whole node per pod.
 *
 * @throws FluxqError `FLUXQ_QUANTITY`, `FLUXQ_JOBSPEC`
 */
export function jobspecOf(options: JobspecOptions): Jobspec {
  const { pod, pods, walltime, exclusive = false, cluster = NO_FACTS, units = DEFAULT_UNITS } = options;
  check(Number.isSafeInteger(pods) && pods > 0, 'pods', 'must be a whole number of at least 1', pods);
  check(
    Number.isFinite(walltime) && walltime > 0,
    'walltime',
    'must be seconds, finite and above 0',
    walltime,
  );
  const requests = podRequests(pod, options.field ?? 'spec.template.spec');
  const constraints = constraintOf(pod, requests, cluster);
  return {
    version: 1,
    resources: [
      exclusive ? wholeNodes(pods, unitsOf(requests, units)) : slots(pods, unitsOf(requests, units)),
    ],
    tasks: [{ command: ['pod'], slot: SLOT, count: { per_slot: 1 } }],
    attributes: { system: { duration: walltime, ...(constraints === undefined ? {} : { constraints }) } },
  };
}

function slots(count: number, perPod: UnitCounts): JobspecResource {
  const units = Object.entries(perPod).map(([type, n]) => ({ type, count: n }));
  return { type: 'slot', count, label: SLOT, with: units };
}

function wholeNodes(count: number, perPod: UnitCounts): JobspecResource {
  return { type: 'node', count, exclusive: true, with: [slots(1, perPod)] };
}

function check(holds: boolean, field: string, what: string, value: unknown): void {
  if (!holds) {
    throw new FluxqError('FLUXQ_JOBSPEC', what, {
      field,
      value,
      remedy: 'correct it in the workload or its queue',
    });
  }
}

/** What one of our own jobspecs asks for. */
export interface Ask {
  readonly pods: number;
  readonly perPod: UnitCounts;
  readonly exclusive: boolean;
}

/** A pass asks of every workload that waits, and every pass anew. */
const asks = new WeakMap<Jobspec, Ask>();

/** Reads back what `jobspecOf` wrote. @throws FluxqError `FLUXQ_JOBSPEC` for a jobspec of another make */
export function askOf(jobspec: Jobspec): Ask {
  const known = asks.get(jobspec) ?? readAsk(jobspec);
  asks.set(jobspec, known);
  return known;
}

function readAsk(jobspec: Jobspec): Ask {
  const [top] = jobspec.resources;
  const slot = top?.type === 'node' ? top.with?.[0] : top;
  const counts = slot?.with?.map(({ type, count }) => [type, count] as const) ?? [];
  const pods = top?.count;
  if (
    slot?.type !== 'slot' ||
    typeof pods !== 'number' ||
    counts.some(([, count]) => typeof count !== 'number')
  ) {
    throw new FluxqError('FLUXQ_JOBSPEC', 'is not one slot per pod', {
      field: 'resources',
      value: jobspec.resources,
      remedy: 'store only jobspecs that jobspecOf made',
    });
  }
  return { pods, perPod: Object.fromEntries(counts) as UnitCounts, exclusive: top?.type === 'node' };
}

/** Hash of what is asked for, whatever its duration: equal shapes ask for the same units on the same nodes. */
export function shapeOf({ version, resources, attributes }: Jobspec): string {
  const { duration: _, ...system } = attributes.system;
  return createHash('sha256').update(canonical({ version, resources, system })).digest('hex').slice(0, 32);
}

/** JSON with sorted keys: Postgres does not keep their order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
