/** The brokers: an indexed Job, or a StatefulSet for a cluster that is there until it is deleted. */

import { parseDuration } from '../api/durations';
import { EXCLUSIVE, GANG_SIZE, PRIORITY, QUEUE, WALLTIME } from '../api/labels';
import { brokerPod, restartPolicy } from './broker-pod';
import type { Scripts } from './config-maps';
import type { Parts } from './context';
import { joinsAnother, maxSize } from './hosts';
import { BROKER_LABEL } from './names';
import { given, some } from './object';
import { objectMetadata } from './object-metadata';
import type { ManifestObject } from './resource';

export function workload(parts: Parts, scripts: readonly Scripts[]): ManifestObject {
  return parts.spec.workload === 'StatefulSet' ? statefulSet(parts, scripts) : job(parts, scripts);
}

function job(parts: Parts, scripts: readonly Scripts[]): ManifestObject {
  const { resource, spec } = parts;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: given({
      name: parts.names.workload,
      labels: { ...spec.jobLabels, ...parts.labels, ...queueLabels(parts) },
      annotations: jobAnnotations(parts),
      namespace: resource.metadata.namespace,
    }),
    spec: given({
      activeDeadlineSeconds: deadline(parts),
      backoffLimit: spec.backoffLimit ?? (parts.interactive ? 100 : 0),
      completionMode: 'Indexed',
      completions: spec.size,
      parallelism: spec.size,
      podFailurePolicy: failurePolicy(parts),
      // The lead's end is the end; the workers stay until then. Who joins another cluster has no lead of its own.
      successPolicy: joinsAnother(spec) ? undefined : { rules: [{ succeededIndexes: '0' }] },
      suspend: spec.suspend,
      ttlSecondsAfterFinished: spec.ttlSecondsAfterFinished,
      template: template(parts, scripts, {}),
    }),
  };
}

function statefulSet(parts: Parts, scripts: readonly Scripts[]): ManifestObject {
  const { resource, spec } = parts;
  const matchLabels = { [BROKER_LABEL]: resource.metadata.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: objectMetadata(parts, parts.names.workload, {
      ...spec.jobLabels,
      ...parts.labels,
    }),
    spec: {
      // Brokers find each other by themselves; one after the other they would wait for ever.
      podManagementPolicy: 'Parallel',
      replicas: spec.size,
      selector: { matchLabels },
      serviceName: parts.names.service,
      template: template(parts, scripts, {
        labels: queueLabels(parts),
        annotations: queueAnnotations(parts),
      }),
    },
  };
}

interface Marks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

function template(parts: Parts, scripts: readonly Scripts[], marks: Marks): Record<string, unknown> {
  const { resource, spec } = parts;
  return {
    metadata: given({
      annotations: some({ ...spec.pod.annotations, ...marks.annotations }),
      labels: {
        ...spec.pod.labels,
        ...parts.labels,
        [BROKER_LABEL]: resource.metadata.name,
        ...marks.labels,
      },
    }),
    spec: brokerPod(parts, scripts),
  };
}

/** The walltime ends the Job too: a queue that plans with it may have promised the nodes to others. */
function deadline({ spec }: Parts): number {
  const walltime =
    spec.walltime === undefined ? Infinity : Math.ceil(parseDuration(spec.walltime) ?? Infinity);
  return Math.min(spec.deadlineSeconds, walltime);
}

function failurePolicy(parts: Parts): unknown {
  const { podFailurePolicy } = parts.spec;
  if (podFailurePolicy !== undefined) return podFailurePolicy;
  // Kubernetes allows a policy with Never only.
  if (restartPolicy(parts) !== 'Never') return undefined;
  return { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] };
}

function queueLabels({ spec }: Parts): Record<string, string> {
  const { queue, walltime, priority, exclusive } = spec;
  return given({
    [EXCLUSIVE]: exclusive === true ? 'true' : undefined,
    [PRIORITY]: priority === undefined || priority < 0 ? undefined : String(priority),
    [QUEUE]: queue,
    [WALLTIME]: walltime,
  }) as Record<string, string>;
}

/** A label can't begin with a minus sign. */
function queueAnnotations({ spec: { priority } }: Parts): Record<string, string> | undefined {
  return priority !== undefined && priority < 0 ? { [PRIORITY]: String(priority) } : undefined;
}

/** Of a cluster that can grow, only the brokers that it needs to start are one gang (docs/decisions/0012). */
function jobAnnotations(parts: Parts): Record<string, string> | undefined {
  const { spec } = parts;
  const gang = spec.minSize ?? spec.size;
  if (gang >= maxSize(spec)) return queueAnnotations(parts);
  return { ...queueAnnotations(parts), [GANG_SIZE]: String(gang) };
}
