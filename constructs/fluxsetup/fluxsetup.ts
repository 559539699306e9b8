import type { Duration } from 'cdk8s';
import { Construct } from 'constructs';
import {
  FluxSetup as FluxSetupResource,
  type FluxSetupSpec,
  type FluxSetupSpecBackfillOrder,
  FluxSetupSpecBorrowingCores,
  FluxSetupSpecBorrowingMemory,
  FluxSetupSpecLendingLimitCores,
  FluxSetupSpecLendingLimitMemory,
  type FluxSetupSpecPolicy,
  type FluxSetupSpecPreemptionFairSharing,
  FluxSetupSpecPreemptionPolicy,
  FluxSetupSpecQuotaCores,
  FluxSetupSpecQuotaMemory,
} from '../../imports/fluxsetup-flux-framework.org';
import { formatDuration } from '../api/durations';
import { PropsError } from '../api/errors';
import { NAMESPACE_LABEL, QUEUE } from '../api/labels';
import { STACK_DEFAULTS } from '../api/queue-defaults';
import { KubeObject } from '../kube-object';
import type { FluxSetupProps, Limits, Quota } from './props';
import { checkQueueName, checkSetup } from './validation';

/** A FluxSetup of this app or of the cluster: the queue that workloads name. */
export interface IFluxSetup {
  /** Name of the queue: the value of the label `fluxqueue/queue`. */
  readonly name: string;

  /** Labels that submit a workload of the same namespace to this queue. */
  readonly labels: Record<string, string>;

  /**
   * Labels of a namespace in which the workloads that name no queue are in this one. They wait until the FluxSetup is in force, so
   * its quota holds in whatever order a namespace, its FluxSetup and its workloads are applied. The queue needs another name than
   * `default`: that is the stack's own queue until the FluxSetup is in force.
   * @throws PropsError when the queue is named `default`
   */
  readonly namespaceLabels: Record<string, string>;
}

/**
 * A queue of a namespace with its policy, walltimes, priorities, quota and limits. Workloads name it by its `labels`.
 * Workloads that name no queue use the only FluxSetup of their namespace; of several, the one with the name `default`,
 * else the oldest.
 */
export class FluxSetup extends Construct implements IFluxSetup {
  /**
   * Refers to a FluxSetup that is not part of this app, in the namespace of the workloads.
   * @throws PropsError when the name does not match the pattern of queue names
   */
  static fromFluxSetupName(name: string): IFluxSetup {
    checkQueueName('FluxSetup.fromFluxSetupName', name);
    return reference(name);
  }

  readonly name: string;
  readonly labels: Record<string, string>;

  /** @throws PropsError when a value is not valid or two props cannot be combined */
  constructor(scope: Construct, id: string, props: FluxSetupProps = {}) {
    super(scope, id);
    checkSetup(props);
    this.name = props.name ?? id;
    checkQueueName('FluxSetup.name', this.name);
    this.labels = labelsOf(this.name);
    new KubeObject(this, 'Resource', FluxSetupResource, {
      metadata: {
        name: this.name,
        ...(props.namespace === undefined ? {} : { namespace: props.namespace }),
      },
      spec: specOf(props),
    });
  }

  get namespaceLabels(): Record<string, string> {
    return namespaceLabelsOf(this.name);
  }
}

function reference(name: string): IFluxSetup {
  return {
    name,
    labels: labelsOf(name),
    get namespaceLabels() {
      return namespaceLabelsOf(name);
    },
  };
}

function labelsOf(name: string): Record<string, string> {
  return { [QUEUE]: name };
}

function namespaceLabelsOf(name: string): Record<string, string> {
  if (name === STACK_DEFAULTS.queueName)
    throw new PropsError(
      'FluxSetup.namespaceLabels',
      "would mean the stack's own queue, which has no quota of the namespace, until the FluxSetup is in force",
      name,
      'give the FluxSetup another name',
    );
  return { [NAMESPACE_LABEL]: 'true', ...labelsOf(name) };
}

/** Contains only given values: the CRD has the defaults. */
function specOf(props: FluxSetupProps): FluxSetupSpec {
  const {
    policy,
    backfillOrder,
    reservations,
    depth,
    agingPerHour,
    cohort,
    reclaim,
    weight,
    allowStackQueue,
  } = props;
  return {
    ...defined({ reservations, depth, agingPerHour, cohort, reclaim, weight, allowStackQueue }),
    ...(policy === undefined ? {} : { policy: policy as FluxSetupSpecPolicy }),
    ...(backfillOrder === undefined ? {} : { backfillOrder: backfillOrder as FluxSetupSpecBackfillOrder }),
    ...defined({ backfillMaxWait: text(props.backfillMaxWait) }),
    ...group('walltime', { default: text(props.defaultWalltime), max: text(props.maxWalltime) }),
    ...group('priority', { min: props.minPriority, max: props.maxPriority }),
    ...group('quota', {
      ...counted(props.quota),
      cores: mapped(props.quota?.cores?.amount, FluxSetupSpecQuotaCores.fromString),
      memory: mapped(sizeOf(props.quota), FluxSetupSpecQuotaMemory.fromString),
    }),
    ...group('borrowing', {
      ...counted(props.borrowing),
      cores: mapped(props.borrowing?.cores?.amount, FluxSetupSpecBorrowingCores.fromString),
      memory: mapped(sizeOf(props.borrowing), FluxSetupSpecBorrowingMemory.fromString),
    }),
    ...group('lendingLimit', {
      ...defined({
        jobs: props.lendingLimit?.jobs,
        pods: props.lendingLimit?.pods,
        gpus: props.lendingLimit?.gpus,
      }),
      cores: mapped(props.lendingLimit?.cores?.amount, FluxSetupSpecLendingLimitCores.fromString),
      memory: mapped(sizeOf(props.lendingLimit), FluxSetupSpecLendingLimitMemory.fromString),
    }),
    ...group('limits', { ...props.limits, perUser: nonEmpty(props.limitsPerUser) }),
    ...group('billingWeights', { ...props.billingWeights }),
    ...group('priorityWeights', { ...props.priorityWeights }),
    ...group('preemption', {
      policy: props.preempts === true ? FluxSetupSpecPreemptionPolicy.LOWER_PRIORITY : undefined,
      fairSharing: props.fairSharing as FluxSetupSpecPreemptionFairSharing | undefined,
      minRuntime: text(props.preemptionMinRuntime),
      limit: props.preemptionLimit,
    }),
    ...group('requeue', { limit: props.requeueLimit, backoff: text(props.requeueBackoff) }),
  };
}

function counted({ jobs, pods, gpus, nodes }: Quota = {}) {
  return { jobs, pods, gpus, nodes };
}

function sizeOf({ memory }: Quota = {}): string | undefined {
  if (memory === undefined) return undefined;
  const size = memory.toKibibytes();
  if (size % 1024 !== 0) return `${size}Ki`;
  return size % 1024 ** 2 === 0 ? `${size / 1024 ** 2}Gi` : `${size / 1024}Mi`;
}

function text(duration: Duration | undefined): string | undefined {
  return duration === undefined ? undefined : formatDuration(duration.toMilliseconds());
}

function mapped<A, B>(value: A | undefined, map: (value: A) => B): B | undefined {
  return value === undefined ? undefined : map(value);
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function nonEmpty(limits: Limits | undefined): Limits | undefined {
  return limits === undefined || Object.keys(limits).length === 0 ? undefined : limits;
}

/** One property of the spec; it is absent when all of its values are. */
function group<K extends string, T extends object>(key: K, values: T): { readonly [P in K]?: Defined<T> } {
  const given = defined(values);
  return Object.keys(given).length === 0 ? {} : ({ [key]: given } as { readonly [P in K]: Defined<T> });
}
