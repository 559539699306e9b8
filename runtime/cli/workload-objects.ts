/** What commands read of workloads beside their FluxJobs, which have neither their labels nor their users. */
import { ADMITTED_LABEL, GROUP, QUEUE, USER_ANNOTATION } from '../../constructs/api/labels';
import { makerKinds, WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { fluxJobName } from '../fluxjobs/status';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import { kindPath, makerUidOf } from '../kubernetes/kind-fields';
import { controllerOf } from '../kubernetes/owner';
import { jobs, pods } from '../kubernetes/paths';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { membershipOf } from '../workloads/group-member';
import { POD_GROUP } from '../workloads/pod-group';
import { settingOf } from '../workloads/settings';
import type { Source } from './show';

/** What commands read of the queue: FluxJobs, and objects by their kind. */
export interface QueueObjects extends Readonly<Record<string, KubernetesObject>> {
  readonly fluxJobs: FluxJobObject;
}

type ObjectSources = Readonly<Record<string, Source>>;

/**
 * The objects in the queue that have these labels, by their kind.
 * @param namespace undefined: all namespaces
 */
export function workloadSources(namespace: string | undefined, selector?: string): ObjectSources {
  const labelSelector = [`${ADMITTED_LABEL}=true`, ...(selector === undefined ? [] : [selector])].join(',');
  const admitted = { labelSelector, metadataOnly: true };
  const ofKinds = WORKLOAD_KINDS.map(
    (kind) => [kind.kind, { path: kindPath(kind)(namespace), ...admitted, optional: true }] as const,
  );
  return {
    Job: { path: jobs(namespace), ...admitted },
    Pod: { path: pods(namespace), ...admitted },
    ...Object.fromEntries(ofKinds),
  };
}

/** The objects for which controllers make those of a workload kind: who created them. */
export function makerSources(namespace: string | undefined): ObjectSources {
  return Object.fromEntries(
    makerKinds().map((maker) => [
      maker.kind,
      { path: kindPath(maker)(namespace), metadataOnly: true, optional: true },
    ]),
  );
}

/** An object by the uid of the workload that FluxJobs have. */
export interface FoundObject extends Pick<KubernetesObject, 'metadata'> {
  readonly uid: string;
  readonly kind: string;
}

/** @param objects by their kind */
export function foundObjects(
  fluxJobs: readonly FluxJobObject[],
  objects: Readonly<Record<string, readonly KubernetesObject[]>>,
): FoundObject[] {
  const groupUids = groupUidsIn(fluxJobs);
  return Object.entries(objects).flatMap(([kind, all]) =>
    all.flatMap(({ metadata }) => {
      const own = { uid: metadata.uid, kind, metadata };
      const group = kind === 'Pod' ? groupUids(metadata) : undefined;
      return group === undefined ? [own] : [own, { ...own, uid: group }];
    }),
  );
}

/** The uid of the group of a pod, of which only the metadata is known. A group has a uid of its own. */
function groupUidsIn(fluxJobs: readonly FluxJobObject[]) {
  const keyOf = (namespace: string | undefined, name: string) => `${namespace}/${name}`;
  const uids = new Map(
    fluxJobs
      .filter(({ spec }) => spec.workload.kind === POD_GROUP)
      .map(({ metadata, spec: { workload } }) => [keyOf(metadata.namespace, workload.name), workload.uid]),
  );
  return (metadata: Pod['metadata']): string | undefined => {
    const name = settingOf(metadata, GROUP);
    const waits = name === undefined ? undefined : uids.get(keyOf(metadata.namespace, name));
    return membershipOf({ metadata })?.uid ?? waits;
  };
}

/** Kubernetes keeps an object with it until its pods have ended, when its FluxJob is long gone. */
const FOREGROUND = 'foregroundDeletion';

/** The same without pods, as far as their user may read it: what of them is being deleted has no FluxJob. */
export function deletedSources(namespace: string | undefined): ObjectSources {
  const { Pod: _, ...others } = workloadSources(namespace);
  return Object.fromEntries(
    Object.entries(others).map(([kind, source]) => [kind, { ...source, optional: true }]),
  );
}

/** What a list shows instead of the FluxJobs of workloads that are being deleted and whose pods have not all ended. */
export function deletedAmong(
  found: readonly FoundObject[],
  fluxJobs: readonly FluxJobObject[],
): FluxJobObject[] {
  const listed = new Set(fluxJobs.map(({ spec }) => spec.workload.uid));
  return found
    .filter(({ uid, metadata }) => !listed.has(uid) && metadata.finalizers?.includes(FOREGROUND) === true)
    .map(({ uid, kind, metadata }) => ({
      metadata: { ...metadata, name: fluxJobName(kind, metadata.name) },
      spec: {
        workload: { apiVersion: '', kind, name: metadata.name, uid },
        queue: settingOf(metadata, QUEUE) ?? '',
        jobspec: '',
      },
    }));
}

/** The users who created these workloads, by uid: what a controller created is of whoever created its maker or, of a pod, its Job. */
export function usersOf(found: readonly FoundObject[]): Map<string, string> {
  const users = new Map(
    found.flatMap(({ uid, metadata: { annotations } }) => {
      const user = annotations?.[USER_ANNOTATION];
      return user === undefined ? [] : [[uid, user] as const];
    }),
  );
  for (const { uid, kind, metadata } of found) {
    const owner = users.has(uid) ? makerUidOf(kind, metadata) : controllerOf({ metadata })?.uid;
    const user = users.get(owner ?? '');
    if (user !== undefined) users.set(uid, user);
  }
  return users;
}
