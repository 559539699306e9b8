/**
 * The parts of an apiserver that the controllers use: paths, preconditions, patches, validation of Jobs, admission by the
 * webhook's rules, and watches that lag and break. It answers immediately; faults.ts adds latency and faults.
 */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { admit } from '../../runtime/admission/rules';
import { keyOf } from '../../runtime/kubernetes/cache';
import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import { ApiError, unreachable } from '../../runtime/kubernetes/errors';
import type { Selection } from '../../runtime/kubernetes/query';
import type { Job, KubernetesList, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { isTerminal } from '../../runtime/workloads/adapter';
import { applyJsonPatch, copyOf, mergePatch, type Operation } from './json-patch';
import { type Change, type ObjectStore, timeOf } from './object-store';
import type { Random } from './random';
import type { SimulatedClock } from './simulated-clock';

interface Target {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

interface EvictionBody {
  readonly deleteOptions?: { readonly preconditions?: { readonly uid?: string } };
}

interface Watcher {
  readonly end: (error: Error) => void;
}

const PATH =
  /^\/apis?(?:\/[^/]+)?\/v[^/]+(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/?]+)(?:\/(?<name>[^/?]+))?(?:\/(?<subresource>[^/?]+))?(?:\?|$)/;
const KINDS: Readonly<Record<string, { group: string; version: string; kind: string }>> = {
  jobs: { group: 'batch', version: 'v1', kind: 'Job' },
  pods: { group: '', version: 'v1', kind: 'Pod' },
};
/** Lag of a watch, in milliseconds. */
const WATCH_LAG_MS = { usual: 20, most: 3_000 };

/** Kubernetes' own default. */
const GRACE_SECONDS = 30;

export class SimulatedApiserver {
  /** `off`: its configuration is missing. `refusing`: no webhook answers. */
  admission: 'on' | 'off' | 'refusing' = 'on';
  /** A policy of the cluster's administrators: the message with which it refuses a change of such an object. */
  policy: (verb: 'create' | 'patch', resource: string) => string | undefined = () => undefined;
  /** A webhook of the cluster that fails: what the apiserver then says of a change of such an object. */
  failure: (verb: 'create' | 'patch', resource: string) => string | undefined = () => undefined;
  /** A slow webhook of the cluster: a patch of such an object goes on when this resolves. */
  stalled: (resource: string) => Promise<void> | undefined = () => undefined;
  /** Resources that nobody may read. */
  readonly unreadable = new Set<string>();
  /** Resources that are not served in the version that is asked for -> whether another one has them. */
  readonly unserved = new Map<string, 'in another version' | 'at all'>();
  /** What another webhook of the cluster makes of a new pod. */
  podWebhook: (pod: Pod, isDryRun: boolean) => Pod = (pod) => pod;
  /** uids of Jobs of which a task is done. */
  readonly progressed = new Set<string>();
  /** uids of the owners of objects that were created while admission was off, and of objects without an owner. */
  readonly unadmitted = new Set<string>();
  private readonly watchers = new Set<Watcher>();

  constructor(
    readonly store: ObjectStore,
    private readonly clock: SimulatedClock,
    private readonly random: Random,
    private readonly now: () => number,
  ) {}

  /** Creates a client. */
  client(): KubernetesClient {
    const closed = new AbortController();
    return {
      server: 'simulated',
      namespace: undefined,
      waitingWrites: 0,
      get: async <T>(path: string) => {
        if (/^[/]apis([/][^/]+[/]v[^/]+)?$/.test(path)) return this.discovery(path) as T;
        this.checkReadable(targetOf(path).resource);
        return this.found(path) as T;
      },
      list: async <T>(path: string, options: Selection = {}) =>
        this.list(path, options) as unknown as KubernetesList<T>,
      create: async <T>(path: string, body: object, options: { dryRun?: boolean } = {}) =>
        this.create(path, body, options) as T,
      update: async <T>(path: string) => {
        throw refusal(405, 'MethodNotAllowed', `update of ${path} is not supported`) as T;
      },
      patch: async <T>(path: string, body: object, type: string) => {
        const stalled = this.stalled(targetOf(path).resource);
        if (stalled !== undefined) await stalled;
        return this.patch(path, body, type) as T;
      },
      delete: async (path, options = {}) => this.delete(path, options.uid, options.propagationPolicy),
      watch: <T>(
        path: string,
        options: { resourceVersion: string; signal: AbortSignal; labelSelector?: string },
        onEvent: (event: WatchEvent<T>) => void,
      ) => this.watch(path, options, onEvent as (event: WatchEvent<KubernetesObject>) => void),
      close: () => closed.abort(),
    };
  }

  /** Ends all watches. @param how by a reset, or because their version has expired @default - by chance */
  breakWatches(how: 'reset' | 'expired' = this.random.happens(0.5) ? 'reset' : 'expired'): void {
    const error =
      how === 'reset' ? unreachable('WATCH', new Error('reset')) : refusal(410, 'Expired', 'too old');
    for (const watcher of [...this.watchers]) watcher.end(error);
  }

  create(path: string, body: object, { dryRun = false }: { dryRun?: boolean } = {}): KubernetesObject {
    const { resource, namespace, subresource } = targetOf(path);
    this.checkPolicy('create', resource);
    if (subresource === 'eviction') return this.evict(path, body as EvictionBody);
    const given = body as KubernetesObject;
    const metadata = { ...given.metadata, ...(namespace !== undefined && { namespace }) };
    if (this.store.get(resource, keyOf(metadata)) !== undefined)
      throw refusal(409, 'AlreadyExists', `${resource} ${metadata.name} already exists`);
    const admitted = this.admitted(resource, copyOf({ ...given, metadata }));
    const mutated = resource === 'pods' ? this.podWebhook(admitted as Pod, dryRun) : admitted;
    if (dryRun) return mutated;
    const created = this.store.create(resource, mutated);
    const { ownerReferences, uid } = created.metadata;
    if (this.admission === 'off') this.unadmitted.add(ownerReferences?.[0]?.uid ?? uid);
    return created;
  }

  /** Deletes an object, or sets its deletionTimestamp if a pod must stop or dependents must be deleted first. */
  delete(path: string, uid?: string, policy?: string): void {
    const { resource } = targetOf(path);
    const object = this.found(path);
    if (uid !== undefined && object.metadata.uid !== uid)
      throw refusal(409, 'Conflict', 'the UID in the precondition does not match');
    const bound = (object as { spec?: { nodeName?: string } }).spec?.nodeName !== undefined;
    const isRunning = resource === 'pods' && bound && !hasEnded(object as Pod);
    if (isRunning || policy === 'Foreground') {
      if (object.metadata.deletionTimestamp !== undefined) return;
      const grace = resource === 'pods' ? { deletionGracePeriodSeconds: GRACE_SECONDS } : {};
      const deletionTimestamp = timeOf(this.now() + (grace.deletionGracePeriodSeconds ?? 0));
      this.store.put(resource, { ...object, metadata: { ...object.metadata, deletionTimestamp, ...grace } });
    } else this.store.remove(resource, keyOf(object.metadata));
  }

  private evict(path: string, { deleteOptions }: EvictionBody): KubernetesObject {
    const pod = this.found(path);
    this.delete(path, deleteOptions?.preconditions?.uid);
    return pod;
  }

  private found(path: string): KubernetesObject {
    const { resource, namespace, name = '' } = targetOf(path);
    const object = this.store.get(resource, namespace === undefined ? name : `${namespace}/${name}`);
    if (this.unserved.has(resource)) throw refusal(404, 'Unknown', 'HTTP 404 404 page not found');
    if (object === undefined) throw refusal(404, 'NotFound', `${resource} "${name}" not found`, name);
    return object;
  }

  private discovery(path: string): object {
    const groups = [...new Set(WORKLOAD_KINDS.map(({ group }) => group))];
    if (path === '/apis')
      return { groups: groups.map((name) => ({ name, versions: [{ groupVersion: `${name}/v1` }] })) };
    const elsewhere = [...this.unserved].filter(([, where]) => where === 'in another version');
    return { resources: elsewhere.map(([name]) => ({ name })) };
  }

  private checkReadable(resource: string): void {
    if (this.unserved.has(resource)) throw refusal(404, 'Unknown', 'HTTP 404 404 page not found');
    if (this.unreadable.has(resource)) throw refusal(403, 'Forbidden', `cannot read ${resource}`);
  }

  private list(path: string, { labelSelector, fieldSelector }: Selection): KubernetesList<KubernetesObject> {
    const { resource, namespace } = targetOf(path);
    this.checkReadable(resource);
    const named = /^metadata\.name=(.*)$/.exec(fieldSelector ?? '')?.[1];
    const about = /(?:^|,)regarding\.uid=([^,]*)/.exec(fieldSelector ?? '')?.[1];
    const items = this.store
      .list(resource)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => named === undefined || metadata.name === named)
      .filter((object) => about === undefined || uidOfEvent(object) === about)
      .filter((object) => isSelected(object, labelSelector));
    return { metadata: { resourceVersion: String(this.store.latest) }, items };
  }

  private patch(path: string, body: object, type: string): KubernetesObject {
    const { resource, subresource } = targetOf(path);
    this.checkPolicy('patch', resource);
    const before = this.found(path);
    const after =
      type === 'json'
        ? applyJsonPatch(before, body as readonly Operation[])
        : (mergePatch(before, body) as KubernetesObject);
    if (after === undefined)
      throw refusal(422, 'Invalid', 'the server rejected our request due to an error in our request');
    if (after.metadata.uid !== before.metadata.uid)
      throw refusal(409, 'Conflict', 'metadata.uid: the UID in the precondition is another');
    if (resource === 'jobs' && subresource === undefined) checkJob(before as Job, after as Job);
    return this.store.put(resource, after);
  }

  private checkPolicy(verb: 'create' | 'patch', resource: string): void {
    const message = this.policy(verb, resource);
    if (message !== undefined) throw refusal(403, 'Forbidden', message);
    const failure = this.failure(verb, resource);
    if (failure !== undefined) throw refusal(500, 'InternalError', failure);
  }

  private admitted(resource: string, object: KubernetesObject): KubernetesObject {
    const kind = KINDS[resource];
    const { namespace = '' } = object.metadata;
    const labels = this.store.get('namespaces', namespace)?.metadata.labels;
    if (kind === undefined || labels?.[NAMESPACE_LABEL] !== 'true' || this.admission === 'off') return object;
    if (this.admission === 'refusing') throw refusal(500, 'InternalError', 'failed calling webhook');
    const { allowed, patch, message } = admit({ uid: '', kind, operation: 'CREATE', namespace, object });
    if (!allowed) throw refusal(400, 'BadRequest', message ?? 'denied');
    return applyJsonPatch(object, patch)!;
  }

  private watch(
    path: string,
    { resourceVersion, signal, labelSelector }: WatchRequest,
    onEvent: (event: WatchEvent<KubernetesObject>) => void,
  ): Promise<'ended'> {
    const { resource } = targetOf(path);
    return new Promise((resolve, reject) => {
      let cursor = Number(resourceVersion);
      let scheduled = false;
      const end = (how: () => void) => {
        stopListening();
        signal.removeEventListener('abort', onAbort);
        this.watchers.delete(watcher);
        how();
      };
      const watcher = { end: (error: Error) => end(() => reject(error)) };
      const onAbort = () => end(() => resolve('ended'));
      const deliver = () => {
        scheduled = false;
        if (!this.watchers.has(watcher)) return;
        const changes = this.store.since(resource, cursor);
        cursor = this.store.latest;
        if (changes === undefined) watcher.end(refusal(410, 'Expired', 'too old resource version'));
        else for (const change of changes) sendEvent(change, labelSelector, onEvent);
      };
      const schedule = () => {
        if (scheduled) return;
        scheduled = true;
        this.clock.after(this.lag(), deliver);
      };
      const stopListening = this.store.onChange(resource, schedule);
      signal.addEventListener('abort', onAbort);
      this.watchers.add(watcher);
      if (signal.aborted) onAbort();
      else schedule();
    });
  }

  /** Mostly short; sometimes a watch lags so much that controllers act on old objects. */
  private lag(): number {
    return this.random.next() * (this.random.happens(0.02) ? WATCH_LAG_MS.most : WATCH_LAG_MS.usual);
  }
}

interface WatchRequest {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  readonly labelSelector?: string;
}

function sendEvent(
  { type, object }: Change,
  labelSelector: string | undefined,
  onEvent: (event: WatchEvent<KubernetesObject>) => void,
): void {
  // One that the selector does not match any more is deleted for this watch.
  onEvent({ type: isSelected(object, labelSelector) ? type : 'DELETED', object });
}

/** Supports selectors of the forms `key=value` and `key in (value,value)` only. */
function isSelected({ metadata }: KubernetesObject, selector: string | undefined): boolean {
  if (selector === undefined) return true;
  const [key = '', values = ''] = selector.replace(/ in \((.*)\)$/, '=$1').split('=');
  return values.split(',').includes(metadata.labels?.[key] ?? '');
}

function targetOf(path: string): Target {
  const groups = PATH.exec(path)?.groups;
  if (groups === undefined) throw refusal(404, 'NotFound', `no such path: ${path}`);
  const { resource = '', namespace, name, subresource } = groups;
  return { resource, namespace, name, subresource };
}

/** The template is mutable only while the Job is suspended and has not started. */
function checkJob(before: Job, after: Job): void {
  if (JSON.stringify(before.spec.template) === JSON.stringify(after.spec.template)) return;
  if (before.spec.suspend === true && before.status?.startTime === undefined) return;
  throw refusal(422, 'Invalid', 'spec.template: field is immutable');
}

/** @param about the name of the object that the refusal is about */
export function refusal(status: number, reason: string, message: string, about?: string): ApiError {
  return new ApiError({ status, reason, message, about, retryAfterSeconds: undefined });
}

/** Of a pod of a Job its controller counts the end first. */
function hasEnded(pod: Pod): boolean {
  return isTerminal(pod) && pod.metadata.ownerReferences === undefined;
}

function uidOfEvent(object: KubernetesObject): string | undefined {
  return (object as { readonly regarding?: { readonly uid?: string } }).regarding?.uid;
}
