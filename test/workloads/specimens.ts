/** One workload of each kind of the registry: its object as the watch keeps it, and the pods that its controller makes of it. */
import {
  ADMITTED_LABEL,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  GROUP,
  GROUP_SIZE,
  JOB_UID_LABEL,
  WALLTIME,
} from '../../constructs/api/labels';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../constructs/api/workload-kinds';
import { InternPool } from '../../runtime/intern';
import { askOf } from '../../runtime/jobspec/jobspec';
import { withField } from '../../runtime/kubernetes/fields';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { newRow } from '../../runtime/queue/rows';
import type { Submission, WorkloadRow } from '../../runtime/queue/workload';
import type { WorkloadCache } from '../../runtime/queue/workload-cache';
import { projectJob } from '../../runtime/shared/job-projection';
import { projectKind } from '../../runtime/shared/kind-projection';
import { projectPod } from '../../runtime/shared/pod-projection';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { adapters } from '../../runtime/workloads/index';
import { assembleGroup } from '../../runtime/workloads/pod-group';
import { defaultSubmissions } from './default-submissions';

/** Unix seconds. */
export const NOW = 1_800_000_000;
export const NODE = 'node-1';
export const PODS = 3;
const NAMESPACE = 'science';
const UID = 'uid-one';

export interface Specimen {
  readonly adapter: WorkloadAdapter;
  /** Of the kinds that are data. */
  readonly kind: WorkloadKind | undefined;
  /** As the apiserver has it; of a group: undefined. */
  readonly object: KubernetesObject | undefined;
  readonly pods: readonly Pod[];
}

const pool = new InternPool();

export function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

const spec = () => ({
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
});

function metadataOf(name: string, more: object = {}): KubernetesObject['metadata'] {
  return {
    name,
    namespace: NAMESPACE,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: timeOf(NOW - 100),
    labels: { [ADMITTED_LABEL]: 'true' },
    annotations: { [WALLTIME]: '60s' },
    ...more,
  };
}

function gatedPod(name: string, more: object = {}): Pod {
  const gated = { ...spec(), schedulingGates: [{ name: GATE }] };
  return { metadata: metadataOf(name, more), spec: gated, status: { phase: 'Pending' } } as unknown as Pod;
}

function job(): Job {
  const template = { metadata: {}, spec: spec() };
  const of = { suspend: true, parallelism: PODS, completions: PODS, completionMode: 'Indexed', template };
  return { metadata: metadataOf('one'), spec: of } as unknown as Job;
}

/** By the data of the kind alone. */
function objectOf(kind: WorkloadKind): KubernetesObject {
  const { in: collection, name, template, count } = kind.podSets;
  let set = withField({}, template, { spec: spec() });
  for (const [i, { of }] of count.entries()) set = withField(set, of, i === 0 ? PODS : 1);
  const sets = name === undefined ? { Worker: set } : [withField(set, name, 'worker')];
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: metadataOf('one') };
  return withField(withField(object, collection, sets), kind.suspend, true) as KubernetesObject;
}

const names = Array.from({ length: PODS }, (_, i) => `one-${i}`);

/** @throws for a kind that nobody has described here */
export function specimenOf(name: string): Specimen {
  const adapter = adapters.get(name)!;
  const kind = WORKLOAD_KINDS.find((each) => each.kind === name);
  const base = { adapter, kind };
  if (kind !== undefined) return { ...base, object: objectOf(kind), pods: [] };
  if (name === 'Job') return { ...base, object: job(), pods: [] };
  if (name === 'Pod') return { ...base, object: gatedPod('one'), pods: [] };
  if (name !== 'PodGroup') throw new Error(`describe a workload of the kind ${name} here`);
  const labels = { [ADMITTED_LABEL]: 'true', [GROUP]: 'one' };
  const annotations = { [GROUP_SIZE]: `${PODS}`, [WALLTIME]: '60s' };
  return { ...base, object: undefined, pods: names.map((each) => gatedPod(each, { labels, annotations })) };
}

/** As the watches keep it. */
export function watched({ adapter, kind, object, pods }: Specimen, row?: WorkloadRow) {
  const kept = pods.map((pod) => projectPod(pod, pool));
  if (object === undefined)
    return { object: assembleGroup({ namespace: NAMESPACE, name: 'one' }, kept, row)!, pods: kept };
  if (adapter.kind === 'Pod') {
    const pod = projectPod(object as Pod, pool);
    return { object: pod as KubernetesObject, pods: [pod] };
  }
  const seen = kind === undefined ? projectJob(object as Job, pool) : projectKind(kind, object, pool);
  return { object: seen as KubernetesObject, pods: kept };
}

/** The pods that the controller of the kind makes of a released object; those of a Job are placed by admission. */
export function madePods({ adapter, kind, object }: Specimen): readonly Pod[] {
  if (kind !== undefined)
    return names.map((name) => gatedPod(name, { labels: { [kind.podSetLabel]: 'worker' } }));
  if (adapter.kind !== 'Job') return [];
  const { template } = (object as Job).spec;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'one', uid: UID, controller: true };
  return names.map((name, i) => ({
    metadata: metadataOf(name, {
      labels: { [JOB_UID_LABEL]: UID },
      annotations: { ...template.metadata?.annotations, [COMPLETION_INDEX_ANNOTATION]: `${i}` },
      ownerReferences: [owner],
    }),
    spec: { ...template.spec, nodeName: NODE },
    status: { phase: 'Pending' },
  }));
}

/** Sentences of what was judged invalid since the test began. */
export const said: string[] = [];
const submissions = defaultSubmissions(
  { byUid: () => undefined } as unknown as WorkloadCache,
  () => undefined,
  {
    logger: {
      ...{ info: () => undefined, debug: () => undefined, warn: () => undefined },
      error: (fields: { err: unknown }) => said.push(String((fields.err as Error).stack)),
    } as never,
  },
);

export function submissionOf({ object }: { object: KubernetesObject }, adapter: WorkloadAdapter): Submission {
  return submissions.preview(object, adapter);
}

/** A row that holds all its pods, which are of one pod set, on one node. */
export function grantedRow(submission: Submission, jobid = 7): WorkloadRow {
  const { perPod, pods } = askOf(submission.jobspec);
  const units = Object.fromEntries(
    Object.entries(perPod).map(([type, count]) => [type, `0-${count * pods - 1}`]),
  );
  const allocation = { jobid, start: NOW, end: NOW + 60, nodes: [{ name: NODE, units }] };
  const times = { allocatedAt: NOW, releasedAt: NOW + 1 };
  return { ...newRow(submission, 1), jobid, phase: 'Ready', reason: null, allocation, ...times };
}
