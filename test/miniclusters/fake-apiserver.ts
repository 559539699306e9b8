/** A fake apiserver for the MiniCluster reconciler, and the reconciler on it. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { ReportContact } from '../../constructs/minicluster';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import { keyOf } from '../../runtime/kubernetes/cache';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import type { EventNote } from '../../runtime/kubernetes/events';
import type { Job } from '../../runtime/kubernetes/types';
import type { Manifest } from '../../runtime/miniclusters/manifests';
import type { OwnedObject } from '../../runtime/miniclusters/prune';
import { MiniClusterReconciler } from '../../runtime/miniclusters/reconciler';
import type { FluxNumbers } from '../../runtime/miniclusters/reports';
import type { MiniCluster } from '../../runtime/miniclusters/resource';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { cluster, job, NOW } from './objects';

const KEY = 'science/hello';

/** The objects that the reconciler sees, and the calls that it makes. */
export const errorOf = (status: number, message: string) =>
  new ApiError({ status, reason: 'Unknown', message, retryAfterSeconds: undefined });

/** The calls that write the objects of the cluster `hello`. */
export const ALL = [
  'apply configmaps/hello-config',
  'apply configmaps/hello-entrypoint',
  'apply services/hello',
  'create secrets',
  'apply jobs/hello',
];
export const STATUS = 'patch miniclusters/hello/status';

export class FakeApiserver {
  cluster: MiniCluster | undefined;
  /** Other MiniClusters of the namespace. */
  others: readonly MiniCluster[] = [];
  job: Job | undefined;
  row: WorkloadRow | undefined;
  ownedObjects: OwnedObject[] = [];
  contact: ReportContact | undefined;
  numbers: FluxNumbers | undefined;
  /** Objects that can be read, by `resource/name`. */
  readable: Record<string, object> = {};
  /** The owners of existing objects by `resource/name`; no other object exists. */
  owners: Record<string, readonly { readonly uid: string }[]> = {};
  now = NOW;
  /** `verb path`, in order. */
  readonly calls: string[] = [];
  readonly bodies: Manifest[] = [];
  readonly events: EventNote[] = [];
  /** Decisions that the reconciler logged, in order. */
  readonly decisions: string[] = [];
  /** The call `verb path` that fails with this error. */
  reject: { readonly call: string; readonly error: ApiError } | undefined;
  /** The error with which the call `verb path` fails, if it does. */
  refuse: ((call: string) => ApiError | undefined) | undefined;
  private readonly reconciler: MiniClusterReconciler;

  constructor(spec: Partial<MiniClusterSpec> = {}) {
    this.cluster = cluster(spec);
    this.reconciler = new MiniClusterReconciler({
      client: this.client(),
      clusterOf: (key) =>
        key === KEY ? this.cluster : this.others.find(({ metadata }) => keyOf(metadata) === key),
      clustersIn: () => [...(this.cluster === undefined ? [] : [this.cluster]), ...this.others],
      jobOf: () => this.job,
      statefulSetOf: () => undefined,
      ownedObjectsOf: () => this.ownedObjects,
      podsOf: () => [],
      rowOf: () => this.row,
      waitOf: () => undefined,
      reportContactOf: async () => this.contact,
      reportOf: () => this.numbers,
      recordEvent: (_, event) => this.events.push(event),
      logger: { debug: (_fields: object, decision?: string) => this.decisions.push(decision!) } as never,
      now: () => this.now,
    });
  }

  /** @returns the calls of one reconcile, and after how many seconds it asks to be requeued */
  async reconcile(key = KEY): Promise<{ calls: string[]; requeueAfter: number | undefined }> {
    this.calls.length = 0;
    const result = await this.reconciler.reconcile(key);
    return { calls: [...this.calls], requeueAfter: result === undefined ? undefined : result.after / 1000 };
  }

  get status() {
    return this.cluster!.status!;
  }

  condition(desired: string) {
    return this.status.conditions!.find(({ type }) => type === desired)!;
  }

  body(kind: string): Manifest | undefined {
    return this.bodies.findLast((body) => body.kind === kind);
  }

  /** Lets the reconciler see the Job of the cluster. */
  addJob(spec: Partial<Job['spec']> = {}, status: Job['status'] = {}, owner = 'u'): void {
    const created = job(spec, status);
    const ownerReferences = [
      {
        apiVersion: 'flux-framework.org/v1alpha2',
        kind: 'MiniCluster',
        name: 'hello',
        uid: owner,
        controller: true,
      },
    ];
    this.job = {
      ...created,
      metadata: { ...created.metadata, ownerReferences, labels: { [ADMITTED_LABEL]: 'true' } },
    };
  }

  edit(spec: Partial<MiniClusterSpec>): void {
    const { metadata } = this.cluster!;
    this.cluster = {
      ...this.cluster!,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...this.cluster!.spec, ...spec },
    };
  }

  private client(): KubernetesClient {
    const call = (verb: string, path: string, body: object) => {
      const at = `${verb} ${path.replace(/^.*namespaces\/science\//, '')}`;
      this.calls.push(at);
      if (this.reject !== undefined && at === this.reject.call) throw this.reject.error;
      const refused = this.refuse?.(at);
      if (refused !== undefined) throw refused;
      this.bodies.push(body as Manifest);
    };
    return {
      get: async (path: string) => {
        const name = path.split('/').slice(-2).join('/');
        return this.readable[name] ?? this.existing(path);
      },
      patch: async (path: string, body: object, type: string, options: { dryRun?: boolean } = {}) => {
        if (options.dryRun === true) return this.existing(path);
        call(type === 'apply' ? 'apply' : 'patch', path, body);
        if (path.endsWith('/hello/status'))
          this.storeStatus((body as { status: MiniCluster['status'] }).status!);
      },
      create: async (path: string, body: object) => call('create', path, body),
      delete: async (path: string, options: object) => call('delete', path, options),
    } as unknown as KubernetesClient;
  }

  /** The metadata of an object that exists before the first reconcile. @throws ApiError with status 404 */
  private existing(path: string): object {
    const name = path.split('/').slice(-2).join('/');
    const ownerReferences = this.owners[name];
    if (ownerReferences !== undefined) return { metadata: { name, ownerReferences } };
    throw new ApiError({
      status: 404,
      reason: 'NotFound',
      message: name,
      about: name,
      retryAfterSeconds: undefined,
    });
  }

  private storeStatus(patch: NonNullable<MiniCluster['status']>): void {
    const status = Object.fromEntries(
      Object.entries({ ...this.cluster!.status, ...patch }).filter(([, value]) => value !== null),
    );
    this.cluster = { ...this.cluster!, status };
  }
}
