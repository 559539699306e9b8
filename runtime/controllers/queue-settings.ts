/** A queue's settings from where they are written: a FluxSetup, or the stack's configuration. Pure. */

import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import type { FluxSetupSpec } from '../../imports/fluxsetup-flux-framework.org';
import type { Config } from '../config';
import { NANO, parseQuantity } from '../jobspec/quantity';
import type { KubernetesObject } from '../kubernetes/types';
import type { Limits, QueueSettings, Quota } from '../queue/types';
import { durationSeconds, INT32 } from '../workloads/settings';

/** A type of imports/ as it travels in JSON: enums as their words, int-or-string as either. */
type AsJson<T> = T extends { readonly value: infer V }
  ? V
  : T extends string
    ? `${T}`
    : T extends object
      ? { readonly [K in keyof T]: AsJson<T[K]> }
      : T;

export type FluxSetupSpecJson = AsJson<FluxSetupSpec>;

export interface FluxSetupObject extends KubernetesObject {
  readonly spec: FluxSetupSpecJson;
  readonly status?: FluxSetupStatus;
}

/** Of policy hybrid, where none are given. */
const RESERVATIONS = 8;
const REQUEUE = { limit: 5, backoffSeconds: 5 };
const GIB = 1024n ** 3n;

/** `<namespace>/<FluxSetup>`. */
export function queueName(namespace: string, setup: string): string {
  return `${namespace}/${setup}`;
}

/** What every queue is that says nothing else: the defaults of the FluxSetup API. */
const DEFAULTS = {
  policy: 'easy',
  reservations: RESERVATIONS,
  depth: 10_000,
  defaultWalltimeSeconds: 3_600,
  maxWalltimeSeconds: 7 * 24 * 3_600,
  priority: INT32,
  agingPerHour: 0,
  quota: {},
  cohort: null,
  borrowing: {},
  reclaim: false,
  limits: { queue: {}, user: {} },
  weight: 1,
  preempts: false,
  requeue: REQUEUE,
} as const satisfies Omit<QueueSettings, 'name' | 'namespace'>;

/** The stack's own queue. */
export function ownQueue({ enabled: _, retentionDays: __, ...given }: Config['queue']): QueueSettings {
  return { ...DEFAULTS, ...given, namespace: null };
}

/** @throws FluxqError `FLUXQ_QUANTITY`, `FLUXQ_SETTING_INVALID` for what the API's own validation can't see */
export function settingsOf({ metadata, spec }: FluxSetupObject): QueueSettings {
  const { name, namespace = '' } = metadata;
  const { walltime, priority, quota, borrowing, limits, requeue } = spec;
  return {
    name: queueName(namespace, name),
    namespace,
    policy: spec.policy ?? DEFAULTS.policy,
    reservations: spec.reservations ?? RESERVATIONS,
    depth: spec.depth ?? DEFAULTS.depth,
    defaultWalltimeSeconds: seconds(walltime?.default, 'walltime.default') ?? DEFAULTS.defaultWalltimeSeconds,
    maxWalltimeSeconds: seconds(walltime?.max, 'walltime.max') ?? DEFAULTS.maxWalltimeSeconds,
    priority: { ...INT32, ...priority },
    agingPerHour: spec.agingPerHour ?? 0,
    quota: quotaOf(quota, 'quota'),
    cohort: spec.cohort ?? null,
    borrowing: quotaOf(borrowing, 'borrowing'),
    reclaim: spec.reclaim ?? false,
    limits: { queue: limitsOf(limits), user: limitsOf(limits?.perUser) },
    weight: spec.weight ?? 1,
    preempts: spec.preemption === 'LowerPriority',
    requeue: {
      limit: requeue?.limit ?? REQUEUE.limit,
      backoffSeconds: seconds(requeue?.backoff, 'requeue.backoff') ?? REQUEUE.backoffSeconds,
    },
  };
}

function quotaOf(given: FluxSetupSpecJson['quota'], field: string): Quota {
  const { cores, memory, ...counted } = given ?? {};
  return {
    ...counted,
    ...(cores === undefined ? {} : { cores: amount(cores, `spec.${field}.cores`, 1n) }),
    ...(memory === undefined ? {} : { memoryGiB: amount(memory, `spec.${field}.memory`, GIB) }),
  };
}

/** Fine enough for thousandths of a core and for MiB. */
const PARTS = 1_024_000n;

function amount(quantity: string | number, field: string, unit: bigint): number {
  return Number((parseQuantity(quantity, field) * PARTS) / (unit * NANO)) / Number(PARTS);
}

function limitsOf(given: Limits | undefined): Limits {
  const { running, waiting } = given ?? {};
  return { ...(running === undefined ? {} : { running }), ...(waiting === undefined ? {} : { waiting }) };
}

function seconds(text: string | undefined, field: string): number | undefined {
  return text === undefined ? undefined : durationSeconds(text, `spec.${field}`);
}
