/** Users of Jobs whose pods end at different times and in different ways, who delete some of them and change their minds. */
import { GANG_SIZE, WALLTIME } from '../../constructs/api/labels';
import { pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import { FAILURES, LENGTHS } from './pod-annotations';
import type { Random } from './random';
import type { SimulatedApiserver } from './simulated-apiserver';

interface TailsOptions {
  readonly apiserver: SimulatedApiserver;
  readonly random: Random;
  readonly namespaces: readonly string[];
  /** Called before what a Job asks for is changed. */
  readonly onChange: (job: Job) => void;
}

/** A Job before it is created. */
type NewJob = { readonly metadata: Partial<Job['metadata']> } & Pick<Job, 'spec'>;

/** Fails as often as anybody tries. */
const ALWAYS = 99;

export class Tails {
  private deleted = new Set<string>();

  constructor(private readonly options: TailsOptions) {}

  /** uids of the Jobs of which a pod was deleted since the last call. */
  takeDeleted(): ReadonlySet<string> {
    const { deleted } = this;
    this.deleted = new Set();
    return deleted;
  }

  /** The Job with a tail. */
  shape({ metadata, spec }: NewJob): NewJob {
    const { random } = this.options;
    const { parallelism = 1, template } = spec;
    const isIndexed = random.happens(0.8);
    const completions = parallelism + random.between(0, 2 * parallelism);
    const lengths = Array.from({ length: 4 }, () => random.oneOf([1, 2, 3, 8, 25])!);
    const isPerIndex = isIndexed && random.happens(0.4);
    const annotations = {
      ...template.metadata?.annotations,
      [LENGTHS]: lengths.join(','),
      ...this.failures(completions),
    };
    return {
      metadata: {
        ...metadata,
        annotations: {
          ...metadata.annotations,
          [WALLTIME]: `${random.between(20, 150)}s`,
          ...this.gangSize(parallelism),
        },
      },
      spec: {
        ...spec,
        completions,
        completionMode: isIndexed ? 'Indexed' : 'NonIndexed',
        ...(isPerIndex && {
          backoffLimitPerIndex: random.between(0, 2),
          backoffLimit: 2 ** 31 - 1,
          ...(random.happens(0.3) && { maxFailedIndexes: random.between(0, 2) }),
        }),
        template: { ...template, metadata: { ...template.metadata, annotations } },
      },
    };
  }

  act(): void {
    const { random } = this.options;
    const roll = random.between(1, 4);
    if (roll <= 2) this.deletePod();
    else if (roll === 3) this.editGangSize();
    else this.lower();
  }

  private failures(completions: number): Readonly<Record<string, string>> {
    const { random } = this.options;
    if (random.happens(0.5)) return {};
    const failing = Array.from({ length: random.between(1, 2) }, () => random.between(0, completions - 1));
    const each = [...new Set(failing)].map((index) => `${index}:${random.oneOf([1, 1, 2, ALWAYS])}`);
    return { [FAILURES]: each.join(',') };
  }

  private gangSize(parallelism: number): Readonly<Record<string, string>> {
    const { random } = this.options;
    return random.happens(0.15) ? { [GANG_SIZE]: String(random.between(1, parallelism)) } : {};
  }

  private deletePod(): void {
    const { apiserver, random } = this.options;
    const pods = apiserver.store
      .list<Pod>('pods')
      .filter((pod) => this.isOfJob(pod) && !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined);
    const pod = random.oneOf(pods);
    if (pod === undefined) return;
    this.deleted.add(pod.metadata.ownerReferences![0]!.uid);
    apiserver.delete(podPath(pod.metadata.namespace, pod.metadata.name));
  }

  /** Of a Job that waits: the guards refuse it of others. */
  private editGangSize(): void {
    const { random } = this.options;
    const job = random.oneOf(this.jobs().filter(({ spec }) => spec.suspend === true));
    if (job === undefined) return;
    const { [GANG_SIZE]: before, ...annotations } = job.metadata.annotations ?? {};
    const added =
      before === undefined || random.happens(0.5)
        ? { [GANG_SIZE]: String(random.between(1, job.spec.parallelism ?? 1)) }
        : {};
    this.put({ ...job, metadata: { ...job.metadata, annotations: { ...annotations, ...added } } });
  }

  /** Lowers the parallelism of an array that runs. */
  private lower(): void {
    const { random } = this.options;
    const job = random.oneOf(
      this.jobs().filter(({ spec }) => spec.suspend === false && (spec.parallelism ?? 1) > 1),
    );
    if (job === undefined) return;
    this.put({ ...job, spec: { ...job.spec, parallelism: random.between(1, job.spec.parallelism! - 1) } });
  }

  private put(job: Job): void {
    this.options.onChange(job);
    this.options.apiserver.store.put('jobs', job);
  }

  private jobs(): readonly Job[] {
    return this.options.apiserver.store
      .list<Job>('jobs')
      .filter(
        ({ metadata, status }) =>
          metadata.deletionTimestamp === undefined && (status?.conditions?.length ?? 0) === 0,
      )
      .filter(({ metadata }) => this.options.namespaces.includes(metadata.namespace ?? ''));
  }

  private isOfJob({ metadata }: Pod): boolean {
    const isOurs = this.options.namespaces.includes(metadata.namespace ?? '');
    return isOurs && metadata.ownerReferences?.[0]?.kind === 'Job';
  }
}
