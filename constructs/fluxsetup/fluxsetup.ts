import type { Duration } from 'cdk8s';
import { Construct } from 'constructs';
import {
  FluxSetup as FluxSetupResource,
  type FluxSetupSpec,
  FluxSetupSpecBorrowingCores,
  FluxSetupSpecBorrowingMemory,
  type FluxSetupSpecPolicy,
  FluxSetupSpecPreemption,
  FluxSetupSpecQuotaCores,
  FluxSetupSpecQuotaMemory,
} from '../../imports/fluxsetup-flux-framework.org';
import { formatDuration } from '../api/durations';
import { QUEUE } from '../api/labels';
import type { FluxSetupProps, Limits, Quota } from './props';
import { checkName, checkSetup } from './validation';

/** A FluxSetup, made here or elsewhere: what workloads name as their queue. */
export interface IFluxSetup {
  /** Its name: the value of `fluxqueue/queue`. */
  readonly name: string;

  /** Labels that put a workload of its namespace into this queue. */
  readonly labels: Record<string, string>;
}

/**
 * The queue of a namespace: policy, walltimes, priorities, quota, limits. Its
 * workloads name it by its `labels`; those that name none use it, too, if it is
 * the only one of its namespace or named `default`.
 */
export class FluxSetup extends Construct implements IFluxSetup {
  /** One that is made elsewhere, in the namespace of the workloads that name it. */
  static fromFluxSetupName(name: string): IFluxSetup {
    checkName('FluxSetup.fromFluxSetupName', name);
    return reference(name);
  }

  readonly name: string;
  readonly labels: Record<string, string>;

  /** @throws PropsError when a value is wrong or values don't go together */
  constructor(scope: Construct, id: string, props: FluxSetupProps = {}) {
    super(scope, id);
    this.name = props.name ?? id;
    checkName('FluxSetup.name', this.name);
    checkSetup(props);
    this.labels = reference(this.name).labels;
    new FluxSetupResource(this, 'Resource', {
      metadata: {
        name: this.name,
        ...(props.namespace === undefined ? {} : { namespace: props.namespace }),
      },
      spec: specOf(props),
    });
  }
}

function reference(name: string): IFluxSetup {
  return { name, labels: { [QUEUE]: name } };
}

/** Only what was given: the API has the defaults. */
function specOf(props: FluxSetupProps): FluxSetupSpec {
  const { policy, reservations, depth, agingPerHour, cohort, reclaim, weight } = props;
  return {
    ...defined({ reservations, depth, agingPerHour, cohort, reclaim, weight }),
    ...(policy === undefined ? {} : { policy: policy as FluxSetupSpecPolicy }),
    ...group('walltime', { default: text(props.defaultWalltime), max: text(props.maxWalltime) }),
    ...group('priority', { min: props.minPriority, max: props.maxPriority }),
    ...group('quota', {
      ...counted(props.quota),
      cores: mapped(props.quota?.cores?.amount, FluxSetupSpecQuotaCores.fromString),
      memory: mapped(mebibytes(props.quota), FluxSetupSpecQuotaMemory.fromString),
    }),
    ...group('borrowing', {
      ...counted(props.borrowing),
      cores: mapped(props.borrowing?.cores?.amount, FluxSetupSpecBorrowingCores.fromString),
      memory: mapped(mebibytes(props.borrowing), FluxSetupSpecBorrowingMemory.fromString),
    }),
    ...group('limits', { ...props.limits, perUser: nonEmpty(props.limitsPerUser) }),
    ...(props.preempts === true ? { preemption: FluxSetupSpecPreemption.LOWER_PRIORITY } : {}),
    ...group('requeue', { limit: props.requeueLimit, backoff: text(props.requeueBackoff) }),
  };
}

function counted({ jobs, pods, gpus, nodes }: Quota = {}) {
  return { jobs, pods, gpus, nodes };
}

function mebibytes({ memory }: Quota = {}): string | undefined {
  if (memory === undefined) return undefined;
  const size = memory.toMebibytes();
  return size % 1024 === 0 ? `${size / 1024}Gi` : `${size}Mi`;
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

/** A part of the spec that is left out where nothing of it was given. */
function group<K extends string, T extends object>(key: K, values: T): { readonly [P in K]?: Defined<T> } {
  const given = defined(values);
  return Object.keys(given).length === 0 ? {} : ({ [key]: given } as { readonly [P in K]: Defined<T> });
}
