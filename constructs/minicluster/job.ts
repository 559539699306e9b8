/** The workload of the brokers: an indexed Job, or a StatefulSet for a cluster that runs until it is deleted. */
import { formatDuration, parseDuration } from '../api/durations';
import { EXCLUSIVE, GANG_SIZE, PRIORITY, QUEUE, WALLTIME } from '../api/labels';
import { MINICLUSTER_DEADLINE_SECONDS } from '../api/queue-defaults';
import { brokerPod, restartPolicy } from './broker-pod';
import type { ConfigMapFiles } from './config-maps';
import type { ClusterContext } from './context';
import { joinsAnother, maxSize } from './hosts';
import { LazyManifest } from './manifest';
import { BROKER_LABEL } from './names';
import { omitEmpty, omitUndefined } from './object';
import { objectMetadata, podAnnotations, userAnnotation } from './object-metadata';

type ReadFiles = () => readonly ConfigMapFiles[];

/** @param files returns the files of the pods when the manifest is written */
export function workload(context: ClusterContext, files: ReadFiles): LazyManifest {
  return context.spec.workload === 'StatefulSet' ? statefulSet(context, files) : job(context, files);
}

function job(context: ClusterContext, files: ReadFiles): LazyManifest {
  const { resource, spec } = context;
  const metadata = omitUndefined({
    name: context.names.workload,
    labels: { ...spec.jobLabels, ...context.labels, ...queueLabels(context) },
    annotations: jobAnnotations(context),
    namespace: resource.metadata.namespace,
  });
  return new LazyManifest('batch/v1', 'Job', metadata, () => ({
    spec: omitUndefined({
      activeDeadlineSeconds: deadline(context),
      backoffLimit: spec.backoffLimit ?? (context.interactive ? 100 : 0),
      completionMode: 'Indexed',
      completions: spec.size,
      parallelism: spec.size,
      podFailurePolicy: failurePolicy(context),
      // The Job ends with the lead broker, and the workers stay until then. A cluster that joins another has no lead.
      successPolicy: joinsAnother(spec) ? undefined : { rules: [{ succeededIndexes: '0' }] },
      // Only a wish: without one it is the queue's, which engines of GitOps would see as a difference.
      suspend: spec.suspend === true ? true : undefined,
      ttlSecondsAfterFinished: spec.ttlSecondsAfterFinished,
      template: template(context, files, {}),
    }),
  }));
}

function statefulSet(context: ClusterContext, files: ReadFiles): LazyManifest {
  const { resource, spec } = context;
  const matchLabels = { [BROKER_LABEL]: resource.metadata.name };
  const metadata = objectMetadata(context, context.names.workload, { ...spec.jobLabels, ...context.labels });
  return new LazyManifest('apps/v1', 'StatefulSet', metadata, () => ({
    spec: {
      // Brokers connect in any order; started one after the other, the first could wait for the others forever.
      podManagementPolicy: 'Parallel',
      replicas: spec.size,
      selector: { matchLabels },
      serviceName: context.names.service,
      template: template(context, files, {
        labels: queueLabels(context),
        annotations: queueAnnotations(context),
      }),
    },
  }));
}

/** What the queue reads from a Job, or from the pods of a StatefulSet. */
interface QueueMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

function template(
  context: ClusterContext,
  files: ReadFiles,
  queueMetadata: QueueMetadata,
): Record<string, unknown> {
  const { resource, spec } = context;
  return {
    metadata: omitUndefined({
      annotations: omitEmpty({ ...podAnnotations(context), ...queueMetadata.annotations }),
      labels: {
        ...spec.pod.labels,
        ...context.labels,
        [BROKER_LABEL]: resource.metadata.name,
        ...queueMetadata.labels,
      },
    }),
    spec: brokerPod(context, files()),
  };
}

/**
 * The Job ends by its walltime, because a queue that plans with it may have promised the nodes to other workloads. One that asks for
 * none has no deadline here: its queue writes its own at the start, and engines of GitOps would see another value than in Git.
 */
function deadline({ spec: { deadlineSeconds, walltime } }: ClusterContext): number | undefined {
  const chosen = deadlineSeconds === MINICLUSTER_DEADLINE_SECONDS ? undefined : deadlineSeconds;
  const asked = walltime === undefined ? undefined : parseDuration(walltime);
  const end = Math.min(chosen ?? Infinity, Math.ceil(asked ?? Infinity));
  return end === Infinity ? undefined : end;
}

function failurePolicy(context: ClusterContext): unknown {
  const { podFailurePolicy } = context.spec;
  if (podFailurePolicy !== undefined) return podFailurePolicy;
  // Kubernetes allows a policy with Never only.
  if (restartPolicy(context) !== 'Never') return undefined;
  return { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] };
}

function queueLabels({ spec }: ClusterContext): Record<string, string> {
  const { queue, walltime, priority, exclusive } = spec;
  return omitUndefined({
    [EXCLUSIVE]: exclusive === true ? 'true' : undefined,
    [PRIORITY]: priority === undefined || priority < 0 ? undefined : String(priority),
    [QUEUE]: queue,
    [WALLTIME]: walltime === undefined ? undefined : labelText(walltime),
  }) as Record<string, string>;
}

/** The value of a label has no colon. */
function labelText(walltime: string): string {
  const seconds = walltime.includes(':') ? parseDuration(walltime) : undefined;
  return seconds === undefined ? walltime : formatDuration(seconds * 1000);
}

/** A negative priority is an annotation, because the value of a label cannot begin with a minus sign. */
function queueAnnotations(context: ClusterContext): Record<string, string> | undefined {
  const { priority } = context.spec;
  return omitEmpty({
    ...(priority !== undefined && priority < 0 ? { [PRIORITY]: String(priority) } : {}),
    ...userAnnotation(context),
  });
}

/** In a cluster that can grow, only the brokers that it needs to start are one gang (docs/decisions/0012). */
function jobAnnotations(context: ClusterContext): Record<string, string> | undefined {
  const { spec } = context;
  const gang = spec.minSize ?? spec.size;
  if (gang >= maxSize(spec)) return queueAnnotations(context);
  return { ...queueAnnotations(context), [GANG_SIZE]: String(gang) };
}
