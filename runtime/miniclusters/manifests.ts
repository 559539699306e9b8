/**
 * The manifests of a MiniCluster as the controller applies them: the objects
 * that the construct renders, with the MiniCluster as owner, so that the
 * garbage collector deletes them with it.
 */

import { HOLD, KUEUE_QUEUE_LABEL, MANAGED_BY, MANAGER } from '../../constructs/api/labels';
import type { ManifestObject } from '../../constructs/minicluster/index';
import { FluxqError } from '../errors';
import { resourcePath } from '../kubernetes/paths';
import { withinGrant } from './granted-deadline';
import { MINICLUSTER_API_VERSION, type MiniCluster } from './resource';
import type { Progress } from './workload-status';

export type Manifest = ManifestObject;

/** The resources that the controller may write, by kind. */
const RESOURCES: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Service: 'services',
  Job: 'jobs',
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

/** @param progress progress of the cluster's workload; undefined if that does not exist yet */
export function manifestToApply(
  manifest: Manifest,
  cluster: MiniCluster,
  progress: Progress | undefined,
): Manifest {
  const ownerReferences = [ownerReference(cluster.metadata)];
  const labels = { ...manifest.metadata.labels, [MANAGED_BY]: MANAGER };
  const owned = { ...manifest, metadata: { ...manifest.metadata, labels, ownerReferences } };
  return manifest.kind === 'Job'
    ? withoutSuspend(withinGrant(inOneQueue(owned, progress), progress), cluster, progress)
    : owned;
}

/** A Job that the queue has does not become one of Kueue: the guards that keep users from that do not judge the controller. */
function inOneQueue(job: Manifest, { isQueued = false }: { readonly isQueued?: boolean } = {}): Manifest {
  if (!isQueued) return job;
  const { [KUEUE_QUEUE_LABEL]: _, ...labels } = job.metadata.labels ?? {};
  return { ...job, metadata: { ...job.metadata, labels } };
}

/**
 * Admission and the queue own `spec.suspend` of a Job: if this field manager had applied it once, it would resume the
 * Job by no longer applying it. So a suspended cluster is held by the queue's annotation, and its Job is created without pods.
 */
function withoutSuspend(job: Manifest, cluster: MiniCluster, progress: Progress | undefined): Manifest {
  const { suspend: _, ...spec } = job.spec as Readonly<Record<string, unknown>>;
  const { suspend } = cluster.spec;
  if (suspend === undefined) return { ...job, spec };
  const annotations = { ...job.metadata.annotations, [HOLD]: String(suspend) };
  const isCreatedSuspended = suspend === true && progress === undefined;
  return {
    ...job,
    metadata: { ...job.metadata, annotations },
    spec: isCreatedSuspended ? { ...spec, parallelism: 0 } : spec,
  };
}

/** @throws FluxqError FLUXQ_MINICLUSTER_KIND */
export function pathOf({ apiVersion, kind, metadata }: Manifest, namespace: string): string {
  const resource = RESOURCES[kind];
  if (resource === undefined)
    throw new FluxqError('FLUXQ_MINICLUSTER_KIND', 'is not a kind that the controller can write', {
      field: 'kind',
      value: kind,
      remedy: 'report this as a bug, with the MiniCluster',
    });
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return resourcePath({ group, version: version ?? 'v1', resource, namespace, name: metadata.name });
}

export function isWorkload({ kind }: Manifest): boolean {
  return kind === 'Job' || kind === 'StatefulSet';
}

export function ownerReference({ name, uid }: { readonly name: string; readonly uid: string }): object {
  // blockOwnerDeletion would require rights on finalizers, and nothing depends on the order of deletion.
  return {
    apiVersion: MINICLUSTER_API_VERSION,
    kind: 'MiniCluster',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: false,
  };
}
