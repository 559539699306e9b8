/** The random actions of the administrators of queues: FluxSetups are created, changed and deleted. */
import { FAIR_SHARING } from '../../constructs/api/policies';
import {
  type FluxSetupObject,
  type FluxSetupSpecJson,
  fluxSetups,
} from '../../runtime/kubernetes/custom-resources';
import type { QueueChange } from '../invariants/observation';
import type { Features } from './features';
import { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';

/** Every queue that a workload of the simulation can be in, besides the queue of the stack. */
const QUEUES = [
  ['science', 'default'],
  ['science', 'wide'],
  ['physics', 'default'],
  ['physics', 'wide'],
] as const;

export interface SimulatedQueuesOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  /** Unix seconds. */
  readonly now: () => number;
  /** Called when a change may postpone estimates. */
  readonly onChange: () => void;
  readonly features: Pick<Features, 'cohorts' | 'enlargements'>;
}

export class SimulatedQueues {
  readonly changes: QueueChange[] = [];
  /** A generator of its own: the numbers of older seeds stay the same. */
  private readonly preemption: Random;
  private readonly cohorts: Random;

  constructor(private readonly options: SimulatedQueuesOptions) {
    this.preemption = new Random(options.random.seed);
    this.cohorts = new Random(options.random.seed ^ 0xc040);
  }

  /** Creates, changes or deletes a FluxSetup. */
  act(): void {
    const { random, apiserver } = this.options;
    const [namespace, name] = random.oneOf(QUEUES)!;
    const object = apiserver.store.get<FluxSetupObject>('fluxsetups', `${namespace}/${name}`);
    this.options.onChange();
    this.changes.push({ queue: `${namespace}/${name}`, at: this.options.now() });
    if (object === undefined) this.create(namespace, name, this.spec());
    else if (random.happens(0.3)) apiserver.delete(fluxSetups(namespace, name));
    else apiserver.store.put('fluxsetups', { ...object, spec: this.spec() });
  }

  /** Makes all queues exist without quotas and limits, so that all workloads can finish. */
  openAll(): void {
    for (const [namespace, name] of QUEUES) {
      this.changes.push({ queue: `${namespace}/${name}`, at: this.options.now() });
      const object = this.options.apiserver.store.get<FluxSetupObject>('fluxsetups', `${namespace}/${name}`);
      if (object === undefined) this.create(namespace, name, {});
      else if (Object.keys(object.spec).length > 0)
        this.options.apiserver.store.put('fluxsetups', { ...object, spec: {} });
    }
  }

  private create(namespace: string, name: string, spec: FluxSetupSpecJson): void {
    this.options.apiserver.create(fluxSetups(namespace), { metadata: { name }, spec });
  }

  private spec(): FluxSetupSpecJson {
    const { random, features } = this.options;
    const spec: FluxSetupSpecJson = {
      policy: random.oneOf(['fcfs', 'easy', 'conservative', 'hybrid'] as const)!,
      ...(random.happens(0.2) && { depth: random.between(1, 5) }),
      ...(random.happens(0.8) && {
        preemption: {
          policy: 'LowerPriority' as const,
          minRuntime: this.preemption.oneOf(['0s', '0s', '20s'])!,
          limit: this.preemption.oneOf([1, 5])!,
        },
      }),
      ...(random.happens(0.3) && { quota: this.quota() }),
      ...(random.happens(0.2) && {
        limits: { running: random.between(1, 6), perUser: { running: random.between(1, 4) } },
      }),
      ...(random.happens(0.2) && { walltime: { default: '20s', max: `${random.between(20, 90)}s` } }),
      ...(random.happens(0.2) && { priority: { min: -1, max: random.between(0, 3) } }),
    };
    // So that it is full most of the time.
    if (features.enlargements) return { ...spec, quota: { cores: String(this.cohorts.between(3, 8)) } };
    return features.cohorts && this.cohorts.happens(0.8) ? this.inCohort(spec) : spec;
  }

  private inCohort(spec: FluxSetupSpecJson): FluxSetupSpecJson {
    const { cohorts } = this;
    const borrows = cohorts.happens(0.5);
    return {
      ...spec,
      cohort: cohorts.oneOf(['lab', 'lab', 'campus'])!,
      quota: { cores: String(cohorts.between(2, 10)) },
      ...(borrows && { borrowing: { cores: String(cohorts.between(0, 8)) } }),
      reclaim: cohorts.happens(0.5),
      preemption: { minRuntime: '0s', ...spec.preemption, fairSharing: cohorts.oneOf(FAIR_SHARING)! },
    };
  }

  private quota(): NonNullable<FluxSetupSpecJson['quota']> {
    const { random } = this.options;
    return random.oneOf([
      { jobs: random.between(1, 6) },
      { pods: random.between(2, 10) },
      { cores: String(random.between(4, 16)) },
      { nodes: random.between(1, 4) },
    ])!;
  }
}
