/**
 * The manifests of a MiniCluster as the controller applies them: what the
 * construct renders, owned by the resource, so that nothing of it outlives it.
 * Pure.
 */

import { HOLD } from '../../constructs/api/labels';
import type { ManifestObject } from '../../constructs/minicluster/index';
import { FluxqError } from '../errors';
import { resourcePath } from '../kubernetes/paths';
import { MINICLUSTER_API_VERSION, type MiniCluster } from './resource';
import type { Progress } from './workload-status';

export type Manifest = ManifestObject;

/** What the controller may write, by kind. */
const RESOURCES: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Service: 'services',
  Job: 'jobs',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

/** @param progress of its workload, if that is there */
export function applied(manifest: Manifest, cluster: MiniCluster, progress: Progress | undefined): Manifest {
  const ownerReferences = [ownerReference(cluster.metadata)];
  const owned = { ...manifest, metadata: { ...manifest.metadata, ownerReferences } };
  return manifest.kind === 'Job' ? withoutSuspend(withinWalltime(owned, progress), progress) : owned;
}

/** What the queue enforces stays: applied anew, the user's own deadline would take it back. */
function withinWalltime(job: Manifest, progress: Progress | undefined): Manifest {
  const { enforcedDeadline } = progress ?? {};
  if (enforcedDeadline === undefined) return job;
  const spec = job.spec as Readonly<Record<string, unknown>>;
  const { activeDeadlineSeconds = enforcedDeadline } = spec as { activeDeadlineSeconds?: number };
  return {
    ...job,
    spec: { ...spec, activeDeadlineSeconds: Math.min(activeDeadlineSeconds, enforcedDeadline) },
  };
}

/**
 * `spec.suspend` of a Job belongs to admission and the queue: a manager that once applied it would, by no longer naming
 * it, let the Job run. So a hold is said in words of the queue, and a Job that is not to start yet is made without pods.
 */
function withoutSuspend(job: Manifest, progress: Progress | undefined): Manifest {
  const { suspend, ...spec } = job.spec as Readonly<Record<string, unknown>>;
  if (suspend === undefined) return { ...job, spec };
  const annotations = { ...job.metadata.annotations, [HOLD]: String(suspend) };
  const isMade = suspend === true && progress === undefined;
  return {
    ...job,
    metadata: { ...job.metadata, annotations },
    spec: isMade ? { ...spec, parallelism: 0 } : spec,
  };
}

/** @throws FluxqError FLUXQ_MINICLUSTER_KIND */
export function pathOf({ apiVersion, kind, metadata }: Manifest, namespace: string): string {
  const resource = RESOURCES[kind];
  if (resource === undefined)
    throw new FluxqError('FLUXQ_MINICLUSTER_KIND', 'is no kind that the controller writes', {
      field: 'kind',
      value: kind,
      remedy: 'report it with the MiniCluster',
    });
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return resourcePath({ group, version: version ?? 'v1', resource, namespace, name: metadata.name });
}

export function isWorkload({ kind }: Manifest): boolean {
  return kind === 'Job' || kind === 'StatefulSet';
}

export function ownerReference({ name, uid }: { readonly name: string; readonly uid: string }): object {
  // Blocking its deletion would need rights on its finalizers and gain nothing.
  return {
    apiVersion: MINICLUSTER_API_VERSION,
    kind: 'MiniCluster',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: false,
  };
}
