/**
 * Dry runs of pods: what webhooks and policies of the cluster make of the first pod of a template, before a workload with it is
 * queued. The apiserver admits such a pod and stores nothing. One dry run serves all Jobs of a template, as long as neither
 * that nor what may change its pods is another.
 *
 * Nothing depends on it: a workload waits for a moment at most, and is then charged what its template says, or what is known of
 * those that are most like it. Its first pod corrects that.
 */
import type { Time } from '../clock';
import { messageOf } from '../errors';
import type { PodSpec } from '../jobspec/pod';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError, isStatus } from '../kubernetes/errors';
import { pods } from '../kubernetes/paths';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { type ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';
import { formatKey, parseKey, type WorkloadKey } from '../shared/workload-key';
import type { WorkloadAdapter } from './adapter';
import { type Template, templateKeyOf } from './injected';
import type { InjectedCharges } from './injected-charges';
import type { MutatingAdmission } from './mutating-admission';
import { remember } from './remembered';
import { JOB_FIELD_MANAGER } from './template-pod';

export interface DryRunsOptions {
  readonly client: Pick<KubernetesClient, 'get' | 'create'>;
  readonly admission: Pick<MutatingAdmission, 'isKnown' | 'versionFor'>;
  readonly charges: Pick<InjectedCharges, 'templatesOfPods' | 'isKnown'>;
  /** Called with a pod of a dry run. @param version of what made it of the template */
  readonly onPod: (template: Template, pod: PodSpec, version: string) => void;
  /** Reconciles this workload again. */
  readonly enqueue: (key: WorkloadKey) => void;
  readonly logger: Logger;
  readonly time: Time;
}

/** The longest that a workload waits for the dry run of its template. */
const MOST_WAIT_MS = 5_000;
/** The longest that a request may take: a webhook may take 30 s to answer. */
const REQUEST_MS = 3_000;
/** Dry runs at the same time; those of one namespace get half of it. */
const CONCURRENCY = 8;
/** Until a template is tried again that was refused. A ResourceQuota that is used up counts in a dry run, too. */
const REFUSED_MS = 60_000;
/** Until one is tried again of which the watch shows another object than the apiserver. */
const OUTDATED_MS = 1_000;
/** Until a namespace is asked again in which no answer came. */
const SILENT_MS = 60_000;
/** Templates that are remembered. */
const MOST_TEMPLATES = 10_000;
/** The longest that a workload waits for the lists of webhooks and policies: during a rollback they are forbidden. */
const MOST_LISTING_MS = 1_000;
/** Until the lists of webhooks and policies are looked at again. */
const LISTING_MS = 100;

/** A dry run that is under way. */
interface DryRun {
  readonly object: KubernetesObject;
  readonly adapter: WorkloadAdapter;
  /** Name of the pod set. */
  readonly set: string;
  readonly template: Template;
  readonly version: string;
  readonly since: number;
  /** The workloads that wait for it. */
  readonly waiting: Set<string>;
}

export class DryRuns {
  /** Template -> its dry run. */
  private readonly runs = new Map<string, DryRun>();
  /** Template -> the version by which it was asked last, and until when it is not asked again. */
  private readonly asked = new Map<string, { readonly version: string; readonly until: number }>();
  /** Namespace -> until when nothing is asked in it. */
  private readonly silent = new Map<string, number>();
  /** Namespaces with what the log says of them, once in a term. */
  private readonly said = new Set<string>();
  private readonly queue: WorkQueue;
  private readonly startedAt: number;

  constructor(private readonly options: DryRunsOptions) {
    const { logger, time } = options;
    this.startedAt = time.clock.now();
    this.queue = new WorkQueue({
      name: 'dry-runs',
      concurrency: CONCURRENCY,
      groupOf: namespaceIn,
      reconcile: (id) => this.run(id),
      logger,
      ...time,
    });
  }

  stop(): Promise<void> {
    return this.queue.stop();
  }

  /** Begins the dry run of a workload without a row, if one is due. @returns when to look again; undefined: it can be queued */
  awaited(key: WorkloadKey, object: KubernetesObject, adapter: WorkloadAdapter): ReconcileResult {
    const now = this.now();
    if (adapter.podsExist) return undefined;
    if (!this.options.admission.isKnown)
      return now < this.startedAt + MOST_LISTING_MS ? { after: LISTING_MS } : undefined;
    const runs = this.begin(object, adapter);
    const left = Math.max(0, ...runs.map(({ since }) => since + MOST_WAIT_MS - now));
    if (left <= 0) return undefined;
    for (const run of runs) run.waiting.add(formatKey(key));
    return { after: left };
  }

  /** Begins the dry run of a workload that waits in its queue, if one is due: it does not wait for it. */
  follow(object: KubernetesObject, adapter: WorkloadAdapter): void {
    if (!adapter.podsExist && this.options.admission.isKnown) this.begin(object, adapter);
  }

  /** The dry runs of its pod sets that are under way. */
  private begin(object: KubernetesObject, adapter: WorkloadAdapter): readonly DryRun[] {
    const version = this.options.admission.versionFor(object.metadata.namespace ?? '');
    if (version === undefined) return [];
    return [...this.options.charges.templatesOfPods(object, adapter)].flatMap(([set, template]) => {
      const id = templateKeyOf(template);
      const running = this.runs.get(id);
      if (running !== undefined) return [running];
      if (!this.isDue(id, version) || this.options.charges.isKnown(template, version)) return [];
      const run = { object, adapter, set, template, version, since: this.now(), waiting: new Set<string>() };
      this.runs.set(id, run);
      this.queue.add(id);
      return [run];
    });
  }

  private isDue(id: string, version: string): boolean {
    const now = this.now();
    const asked = this.asked.get(id);
    const isSilent = now < (this.silent.get(namespaceIn(id)) ?? now);
    return !isSilent && (asked?.version !== version || now >= asked.until);
  }

  private async run(id: string): Promise<void> {
    const run = this.runs.get(id)!;
    try {
      if (this.isDue(id, run.version)) await this.ask(id, run);
    } catch (error) {
      this.goOnWithout(id, run, error);
    }
    this.runs.delete(id);
    for (const key of run.waiting) this.options.enqueue(parseKey(key));
  }

  private async ask(id: string, run: DryRun): Promise<void> {
    const { client, onPod } = this.options;
    const { adapter, set } = run;
    const { namespace = '', name, uid, generation } = run.object.metadata;
    const limits = { timeout: REQUEST_MS, retries: 0 };
    // The watch keeps of a template only what the queue reads.
    const object = await client.get<KubernetesObject>(adapter.path(namespace, name), limits);
    const pod = adapter.samplePod(object, set);
    if (object.metadata.uid !== uid || object.metadata.generation !== generation || pod === undefined)
      return this.note(id, run, OUTDATED_MS);
    const write = { ...limits, dryRun: true, fieldManager: JOB_FIELD_MANAGER };
    const { spec } = await client.create<Pod>(pods(namespace), pod, write);
    this.note(id, run, Number.POSITIVE_INFINITY);
    this.silent.delete(namespace);
    onPod(run.template, spec, run.version);
  }

  private goOnWithout(id: string, run: DryRun, error: unknown): void {
    const { namespace = '', name } = run.object.metadata;
    const isAnswer = error instanceof ApiError && error.status < 500 && error.status !== 429;
    if (isAnswer) this.note(id, run, error.status === 404 ? OUTDATED_MS : REFUSED_MS);
    else this.silent.set(namespace, this.now() + SILENT_MS);
    if (isStatus(error, 404)) return;
    const sentence = isAnswer ? REFUSED : SILENT;
    // A quota that is full now and then would fill the log.
    const fact = `${namespace} ${isAnswer ? error.status : sentence}`;
    const level = this.said.has(fact) ? 'debug' : 'warn';
    this.said.add(fact);
    this.options.logger[level]({ namespace, workload: name, error: messageOf(error) }, sentence);
  }

  private note(id: string, { version }: DryRun, milliseconds: number): void {
    remember(this.asked, id, { version, until: this.now() + milliseconds }, MOST_TEMPLATES);
  }

  private now(): number {
    return this.options.time.clock.now();
  }
}

const REFUSED =
  'a dry run of a pod was refused: its Jobs are charged what their templates request, until a pod says more';
const SILENT =
  'no answer to a dry run of a pod: Jobs of its namespace are charged what their templates request, until a pod says more';

function namespaceIn(id: string): string {
  return id.slice(0, id.indexOf('/'));
}
