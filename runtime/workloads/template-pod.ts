/** A pod as a controller makes it of the template of a Job, or of an object of a workload kind: what webhooks and policies of the cluster decide by. */
import { JOB_TRACKING_FINALIZER } from '../../constructs/api/job-controller';
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { WorkloadKind } from '../../constructs/api/workload-kinds';
import { apiVersionOf, type KindObject, kindPodSets } from '../kubernetes/kind-fields';
import type { Job } from '../kubernetes/types';

/** Field manager of the Job controller. */
export const JOB_FIELD_MANAGER = 'kube-controller-manager';

/** The first pod. It has no assignment, because the Job waits. */
export function templatePod({ metadata, spec }: Job): object {
  const { name, namespace, uid } = metadata;
  const { labels, annotations } = spec.template.metadata ?? {};
  const isIndexed = spec.completionMode === 'Indexed';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: isIndexed ? `${name}-0-` : `${name}-`,
      namespace,
      labels: { ...labels, ...(isIndexed && { [COMPLETION_INDEX_ANNOTATION]: '0' }) },
      annotations: { ...annotations, ...(isIndexed && { [COMPLETION_INDEX_ANNOTATION]: '0' }) },
      finalizers: [JOB_TRACKING_FINALIZER],
      // Without `blockOwnerDeletion`, for which some clusters ask a right on the finalizers of the Job.
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
    },
    spec: spec.template.spec,
  };
}

/** The first pod of a pod set. What makes it, the object itself or a Job of it, says nothing to webhooks that its labels do not. */
export function kindTemplatePod(kind: WorkloadKind, object: KindObject, set: string): object | undefined {
  const template = kindPodSets(kind, object).find(({ name }) => name === set)?.template;
  if (template === undefined) return undefined;
  const { name, namespace, uid } = object.metadata;
  const { metadata = {}, spec } = template;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${name}-${set}-`,
      namespace,
      labels: { ...metadata.labels, [kind.podSetLabel]: set },
      annotations: metadata.annotations,
      ownerReferences: [{ apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true }],
    },
    spec,
  };
}
