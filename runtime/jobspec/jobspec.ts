/** From a pod template to the jobspec of a match request. */
import { createHash } from 'node:crypto';
import {
  exceededPodLimit,
  MAX_JOBSPEC_BYTES,
  POD_LIMIT_CODE,
  POD_LIMIT_REMEDY,
  podLimitField,
  podLimitProblem,
} from '../../constructs/api/pod-limits';
import { cut } from '../columns';
import { FluxqError } from '../errors';
import type { UnitCounts } from '../resources/types';
import { type ClusterFacts, constraintOf, EVERY, NO_FACTS, recordingFacts, restriction } from './constraints';
import { checkIntakeBudget } from './intake-budget';
import { type PodTraits, placementRulesOf } from './placement-rules';
import type { PodSpec } from './pod';
import { podRequests, quantitiesOf, type Requests } from './requests';
import type { Constraint, Jobspec, JobspecResource, PlacementRules } from './types';
import { DEFAULT_UNITS, type UnitSettings, unitsOf, unitType } from './units';
import { unmodeledFields } from './unmodeled';
import { NO_STORAGE, type StorageFacts, type VolumePlacement, volumePlacement } from './volumes';

export interface JobspecOptions {
  /** The spec of the pod template. */
  readonly pod: PodSpec;
  /** Number of pods that run at once: at least 1. */
  readonly pods: number;
  /** Longest runtime in seconds: finite, above 0. */
  readonly walltime: number;
  /** Whether each pod gets a whole node. @default false */
  readonly exclusive?: boolean;
  /** Whether each pod is of use without the others. @default false */
  readonly array?: boolean;
  /** Sizes of the units. @default - 1 core, 1 GiB */
  readonly units?: UnitSettings;
  /** Taints and labels of the nodes. @default - no taints, and labels only by exact value */
  readonly cluster?: ClusterFacts;
  /** Namespace and labels of the pods: rules about pods may be about these too. @default - no labels */
  readonly self?: Omit<PodTraits, 'rules'>;
  /** PersistentVolumeClaims, volumes and storage classes. @default - none is known */
  readonly storage?: StorageFacts;
  /** Name of the pod; its ephemeral volumes have claims of that name. @default - a pod template */
  readonly podName?: string | undefined;
  /** Scheduling gates of other controllers that are still on the pods. @default [] */
  readonly gates?: readonly string[];
  /** Path of the pod spec in the user's object, for errors. @default 'spec.template.spec' */
  readonly field?: string;
}

const NO_TRAITS = { namespace: '', labels: {} };

/** The slot's label; a slot is one pod. */
const SLOT = 'pod';

/**
 * A jobspec with one slot per pod: anywhere in the cluster, several on a node if they fit. With `exclusive` each pod
 * gets a whole node.
 * @throws FluxqError `FLUXQ_QUANTITY`, `FLUXQ_JOBSPEC`, `FLUXQ_TOO_LARGE`
 */
export function jobspecOf(options: JobspecOptions): Jobspec {
  const { pod, pods, walltime, exclusive = false, units = DEFAULT_UNITS } = options;
  const labels = new Set<string>();
  const cluster = recordingFacts(options.cluster ?? NO_FACTS, labels);
  check(Number.isSafeInteger(pods) && pods > 0, 'pods', 'must be a whole number of at least 1', pods);
  check(
    Number.isFinite(walltime) && walltime > 0,
    'walltime',
    'must be seconds, finite and above 0',
    walltime,
  );
  const {
    field = 'spec.template.spec',
    self = NO_TRAITS,
    storage = NO_STORAGE,
    podName,
    gates = [],
  } = options;
  const { namespace } = self;
  checkPodLimits(pod, field);
  checkIntakeBudget(pod, field, { cluster, storage, namespace });
  const requests = podRequests(pod, field);
  const volumes = volumePlacement(pod, { storage, facts: cluster, namespace, podName, pods });
  const constraints = restriction([
    constraintOf(pod, requests, cluster) ?? EVERY,
    volumes?.constraint ?? EVERY,
  ]);
  // Rules may repeat the constraint: what is too large already is not written again.
  checkSize(constraints ?? EVERY, field);
  const unmodeled = unmodeledFields(pod, { field, facts: cluster, volumes: volumes?.unmodeled ?? [] });
  const rules = placementRulesOf(pod, requests, self, cluster);
  const isArray = options.array === true && pods > 1;
  const attributes = {
    system: { duration: walltime, ...(constraints === undefined ? {} : { constraints }) },
    user: userPart({ units, requests, rules, volumes, unmodeled, labels, gates, pod, isArray }),
  };
  checkSize(attributes, field);
  return {
    version: 1,
    resources: [
      exclusive ? wholeNodes(pods, unitsOf(requests, units)) : slots(pods, unitsOf(requests, units)),
    ],
    tasks: [{ command: ['pod'], slot: SLOT, count: { per_slot: 1 } }],
    attributes,
  };
}

/** Characters: several conditions of a FluxJob repeat the message. */
const LONGEST_MESSAGE = 1024;

/** The jobspec of a workload that cannot be read: no pass grants it. */
export function invalidJobspec(message: string, { cpuMillis, memoryMiB }: UnitSettings): Jobspec {
  const invalid = cut(message, LONGEST_MESSAGE);
  return {
    version: 1,
    resources: [slots(1, { core: 1 })],
    tasks: [{ command: ['pod'], slot: SLOT, count: { per_slot: 1 } }],
    attributes: { system: { duration: 1 }, user: { units: { cpuMillis, memoryMiB }, requests: {}, invalid } },
  };
}

/**
 * @param field path of the pod spec in the user's object
 * @throws FluxqError `FLUXQ_TOO_LARGE` if a list in the pod spec is longer than the limits of one workload
 */
export function checkPodLimits(pod: unknown, field: string): void {
  const exceeded = exceededPodLimit(pod);
  if (exceeded === undefined) return;
  const { limit, count } = exceeded;
  throw new FluxqError(POD_LIMIT_CODE, podLimitProblem(limit), {
    field: `${field}.${podLimitField(limit)}`,
    value: count,
    remedy: POD_LIMIT_REMEDY,
  });
}

/** Every pass reads it, and it is kept in memory for as long as the workload waits. */
function checkSize(part: Jobspec['attributes'] | Constraint, field: string): void {
  const size = JSON.stringify(part).length;
  if (size <= MAX_JOBSPEC_BYTES) return;
  throw new FluxqError(POD_LIMIT_CODE, `must describe its nodes in at most ${MAX_JOBSPEC_BYTES} bytes`, {
    field,
    value: size,
    remedy: POD_LIMIT_REMEDY,
  });
}

interface UserParts {
  readonly units: UnitSettings;
  readonly requests: Requests;
  readonly rules: PlacementRules | undefined;
  readonly volumes: VolumePlacement | undefined;
  readonly unmodeled: readonly string[];
  readonly labels: ReadonlySet<string>;
  readonly gates: readonly string[];
  readonly pod: PodSpec;
  readonly isArray: boolean;
}

/** Kubernetes' own default. */
export const DEFAULT_GRACE_SECONDS = 30;

/** Parts that nothing uses are left out. */
function userPart({ units, requests, rules, volumes, unmodeled, labels, gates, pod, isArray }: UserParts) {
  const grace = pod.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  const { jointly = [], claims = [] } = volumes ?? {};
  const placement = jointly.length === 0 ? rules : { ...rules, jointly };
  return {
    units: { cpuMillis: units.cpuMillis, memoryMiB: units.memoryMiB },
    requests: writtenRequests(requests),
    ...(placement && { placement }),
    ...(grace === DEFAULT_GRACE_SECONDS ? {} : { graceSeconds: Math.max(0, grace) }),
    ...(claims.length === 0 ? {} : { claims }),
    ...(unmodeled.length === 0 ? {} : { unmodeled }),
    ...(gates.length === 0 ? {} : { gates }),
    ...(isArray && { array: true }),
    ...(labels.size === 0 ? {} : { labels: [...labels].sort() }),
  };
}

/** The requests that are counted in units. */
function writtenRequests(requests: Requests): Readonly<Record<string, string>> {
  return quantitiesOf(new Map([...requests].filter(([name]) => unitType(name) !== undefined)));
}

function slots(count: number, perPod: UnitCounts): JobspecResource {
  const units = Object.entries(perPod).map(([type, n]) => ({ type, count: n }));
  return { type: 'slot', count, label: SLOT, with: units };
}

function wholeNodes(count: number, perPod: UnitCounts): JobspecResource {
  return { type: 'node', count, exclusive: true, with: [slots(1, perPod)] };
}

function check(isValid: boolean, field: string, message: string, value: unknown): void {
  if (!isValid) {
    throw new FluxqError('FLUXQ_JOBSPEC', message, {
      field,
      value,
      remedy: 'correct it in the workload or its queue',
    });
  }
}

/** The request in a jobspec of `jobspecOf`. */
export interface Ask {
  readonly pods: number;
  readonly perPod: UnitCounts;
  readonly exclusive: boolean;
}

/** Whether its pods can run one without the other: true of each Job that has more than one pod and is no gang. */
export function isArray({ attributes }: Jobspec): boolean {
  return attributes.user?.array === true;
}

/** Every pass reads the request of every waiting workload. */
const asks = new WeakMap<Jobspec, Ask>();

/**
 * Reads the request back from a jobspec of `jobspecOf`; of a gang of several pod sets that of each (`setsOf`).
 * @throws FluxqError `FLUXQ_JOBSPEC` for any other jobspec
 */
export function askOf(jobspec: Jobspec): Ask {
  const known = asks.get(jobspec);
  if (known !== undefined) return known;
  const ask = readAsk(jobspec);
  asks.set(jobspec, ask);
  return ask;
}

function readAsk(jobspec: Jobspec): Ask {
  const [top, ...others] = jobspec.resources;
  const slot = top?.type === 'node' ? top.with?.[0] : top;
  const counts = slot?.with?.map(({ type, count }) => [type, count] as const) ?? [];
  const pods = top?.count;
  if (
    others.length > 0 ||
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

/** Hash of the request without its duration: equal shapes request the same units on the same nodes. */
export function shapeOf({ version, resources, attributes }: Jobspec): string {
  const { duration: _, ...system } = attributes.system;
  const { user } = attributes;
  return createHash('sha256')
    .update(canonical({ version, resources, system, user }))
    .digest('hex')
    .slice(0, 32);
}

/** JSON with sorted keys: Postgres does not keep their order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
