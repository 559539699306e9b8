/**
 * The settings of pods that wait alone although an object of a workload kind made them which is none of the queue: it ran before
 * its namespace joined the queue, or was handed back when that had left. Such a pod asks for what its owner says, where it says
 * nothing itself: else a Job of five hours got pods that end by the default walltime of the queue.
 *
 * The queue watches only what it has admitted, so it asks for the owner when the first pod of it is queued.
 */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { Clock } from '../clock';
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import { fieldAt } from '../kubernetes/fields';
import { isAccountOfOthers } from '../kubernetes/kind-fields';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject, OwnerReference } from '../kubernetes/types';
import type { WorkloadAdapter } from './adapter';
import { ifReadable } from './demand';
import { remember } from './remembered';
import { type WorkloadSettings, workloadSettings } from './settings';

export interface OwnerSettingsOptions {
  readonly client: Pick<KubernetesClient, 'get'>;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  readonly clock: Clock;
}

/**
 * What pods take over. Their owner was held, and its dependencies were met, before it made them. A priority is none of it: nobody judged
 * that of an owner which is none of the queue.
 */
const INHERITED = ['queue', 'walltimeSeconds', 'checkpointSeconds', 'exclusive', 'preemptible'] as const;

/** What an owner asks for. */
export interface OwnerSettings extends Partial<Pick<WorkloadSettings, (typeof INHERITED)[number]>> {
  /** Its user's activeDeadlineSeconds. @default - it has none */
  readonly deadlineSeconds?: number | undefined;
}

interface Known {
  readonly readAt: number;
  /** Empty if the owner is gone. */
  readonly settings: OwnerSettings | FluxqError;
}

interface Owner {
  readonly object: KubernetesObject;
  readonly adapter: WorkloadAdapter;
}

/** Milliseconds for which new pods of an owner go by what it said last. */
const RECENT_MS = 60_000;
const MOST_OWNERS = 10_000;
/** A Job, its JobSet, and what made that. Users write owners, also in a circle. */
const MOST_ABOVE = 3;

export class Owners {
  /** By the controller of a pod, and its user. */
  private readonly known = new Map<string, Known>();

  constructor(private readonly options: OwnerSettingsOptions) {}

  /**
   * Asks for the owner of a pod, if an object of a workload kind made it.
   * @param isNew whether the pod is about to be queued: its owner may have changed since it was asked for
   */
  async read(pod: KubernetesObject, { isNew }: { readonly isNew: boolean }): Promise<void> {
    const owner = controllerOf(pod);
    if (owner === undefined || this.adapterOf(owner) === undefined) return;
    const now = this.options.clock.now();
    const key = keyOf(pod, owner);
    const known = this.known.get(key);
    if (known !== undefined && (!isNew || now < known.readAt + RECENT_MS)) return;
    const owners = await this.chainOf(pod, owner);
    remember(this.known, key, { readAt: now, settings: settingsOf(owners) }, MOST_OWNERS);
  }

  /**
   * What the owner of a pod asks for; nothing if it has none, or none is known.
   * @throws FluxqError FLUXQ_SETTING_INVALID that names the owner
   */
  of(pod: KubernetesObject): OwnerSettings {
    const owner = controllerOf(pod);
    const settings = owner === undefined ? undefined : this.known.get(keyOf(pod, owner))?.settings;
    if (settings instanceof FluxqError) throw settings;
    return settings ?? {};
  }

  /** The owner, and what made that: a Job of a JobSet has the settings of the JobSet. */
  private async chainOf(pod: KubernetesObject, first: OwnerReference): Promise<readonly Owner[]> {
    const { namespace = '' } = pod.metadata;
    const chain: Owner[] = [];
    let below = pod;
    for (let owner: OwnerReference | undefined = first; owner !== undefined && chain.length < MOST_ABOVE; ) {
      const { uid, name } = owner;
      const adapter = this.adapterOf(owner);
      if (adapter === undefined) break;
      const object = await ifFound(this.options.client.get<KubernetesObject>(adapter.path(namespace, name)));
      if (object?.metadata.uid !== uid || !mayBeMadeFor(below, object)) break;
      chain.push({ object, adapter });
      below = object;
      owner = controllerOf(object);
    }
    return chain;
  }

  private adapterOf({ kind, apiVersion }: OwnerReference): WorkloadAdapter | undefined {
    const adapter = this.options.adapters.get(kind);
    const isIts = adapter !== undefined && !adapter.podsExist && adapter.apiVersion === apiVersion;
    return isIts ? adapter : undefined;
  }
}

function keyOf(pod: KubernetesObject, { uid }: OwnerReference): string {
  return `${pod.metadata.namespace}/${uid}/${userOf(pod)}`;
}

/** The user whom admission noted in the object, or in its template; "" if a controller wrote it, or nobody noted. */
function userOf(object: KubernetesObject): string {
  const inTemplate = fieldAt(object, ['spec', 'template', 'metadata', 'annotations', USER_ANNOTATION]);
  return object.metadata.annotations?.[USER_ANNOTATION] ?? (typeof inTemplate === 'string' ? inTemplate : '');
}

/** Whoever writes an object names any other one as its owner: a person gets by that only what is of the same person. */
function mayBeMadeFor(object: KubernetesObject, owner: KubernetesObject): boolean {
  const user = userOf(object);
  return user === '' || isAccountOfOthers(user, object.metadata.namespace) || user === userOf(owner);
}

/** The settings of a pod whose owner says what it does not say itself. */
export function withOwners(own: WorkloadSettings, owners: OwnerSettings = {}): WorkloadSettings {
  const { deadlineSeconds: _, exclusive = false, preemptible = false, ...others } = owners;
  return {
    ...others,
    ...own,
    exclusive: own.exclusive || exclusive,
    preemptible: own.preemptible || preemptible,
  };
}

/** What is nearer to the pod counts. */
function settingsOf(owners: readonly Owner[]): Known['settings'] {
  try {
    const each = owners.map(settingsIn).reverse();
    return Object.assign({}, ...each) as OwnerSettings;
  } catch (error) {
    if (error instanceof FluxqError) return error;
    throw error;
  }
}

function settingsIn({ object, adapter }: Owner): OwnerSettings {
  const settings = validSettings(object, adapter);
  const isSet = (key: (typeof INHERITED)[number]) => settings[key] !== undefined && settings[key] !== false;
  // Of pods that the queue would refuse in the owner nothing is asked here: they exist, and each is judged by itself.
  const deadlineSeconds = ifReadable(() => adapter.demand(object).deadlineSeconds);
  return {
    ...Object.fromEntries(INHERITED.filter(isSet).map((key) => [key, settings[key]])),
    ...(deadlineSeconds !== undefined && { deadlineSeconds }),
  };
}

/** @throws FluxqError FLUXQ_SETTING_INVALID that names the owner */
function validSettings({ metadata }: KubernetesObject, { kind }: WorkloadAdapter): WorkloadSettings {
  try {
    return workloadSettings(metadata);
  } catch (error) {
    if (!(error instanceof FluxqError)) throw error;
    const problem = error.message.replace(`${error.code}: `, '');
    throw new FluxqError(error.code, `its ${kind} ${metadata.name}: ${problem}`, { cause: error });
  }
}
