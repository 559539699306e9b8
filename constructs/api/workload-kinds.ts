/**
 * Kinds of workloads that a `suspend` field of their own holds, as data: what admission, rights, the runtime and the commands
 * have to know about each. The controller of the kind makes Jobs and pods of its objects; the object is the workload, and what
 * is made of it is neither held nor queued a second time (docs/decisions/0055-workload-kinds.md).
 */

/** Names of fields, from the object down. */
export type FieldPath = readonly string[];

/** The field that holds a Job. */
export const JOB_SUSPEND: FieldPath = ['spec', 'suspend'];

/** A number of pods, or a factor of it. */
export interface PodCount {
  /** Field of the pod set; 1 if it is not set. */
  readonly of: FieldPath;
  /** Field that limits it. @default - nothing does */
  readonly atMost?: FieldPath;
}

/** Where the pod sets of a kind stand. */
interface PodSetFields {
  /** A list of pod sets, or a map of them. */
  readonly in: FieldPath;
  /** The name of a pod set in a list. @default - its key in the map, in lower case */
  readonly name?: FieldPath;
  /** The pod template in a pod set. */
  readonly template: FieldPath;
  /** Metadata that the kind copies to Jobs which it makes. @default - none */
  readonly jobMetadata?: FieldPath;
  /** The pods of a set that run at once: the product. */
  readonly count: readonly PodCount[];
  /** How many pods of a set have to succeed, one after the other, where that is more than run at once. @default - none */
  readonly completions?: FieldPath;
}

/** A kind of workload that is held by a `suspend` field of its own. */
export interface WorkloadKind {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** What users write for it in commands, besides its plural and its kind. */
  readonly words: readonly string[];
  /** The field that holds it, below `spec`. */
  readonly suspend: FieldPath;
  /** The field that names its controller, and the value of the one that makes its pods in this cluster. */
  readonly managedBy: { readonly field: FieldPath; readonly builtIn: string };
  readonly podSets: PodSetFields;
  /** Label of its pods with the name of their pod set. */
  readonly podSetLabel: string;
  /** Types of conditions that end it. */
  readonly ends: { readonly Succeeded: readonly string[]; readonly Failed: readonly string[] };
  /** Longest run in seconds that its user sets. @default - the kind has no such field */
  readonly deadline?: FieldPath;
  /** How often its pods may be made again after they succeeded or failed; 0 if the field is not set. @default - never */
  readonly restarts?: FieldPath;
  /** Fields that may change after the queue has started it, besides `suspend`. Each other field of the spec stays as it is. */
  readonly changeable: readonly FieldPath[];
}

const JOB_SET: WorkloadKind = {
  kind: 'JobSet',
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  plural: 'jobsets',
  words: ['js'],
  suspend: ['spec', 'suspend'],
  managedBy: { field: ['spec', 'managedBy'], builtIn: 'jobset.sigs.k8s.io/jobset-controller' },
  podSets: {
    in: ['spec', 'replicatedJobs'],
    name: ['name'],
    template: ['template', 'spec', 'template'],
    jobMetadata: ['template', 'metadata'],
    count: [
      { of: ['replicas'] },
      { of: ['template', 'spec', 'parallelism'], atMost: ['template', 'spec', 'completions'] },
    ],
    completions: ['template', 'spec', 'completions'],
  },
  podSetLabel: 'jobset.sigs.k8s.io/replicatedjob-name',
  ends: { Succeeded: ['Completed'], Failed: ['Failed'] },
  restarts: ['spec', 'failurePolicy', 'maxRestarts'],
  changeable: [['spec', 'ttlSecondsAfterFinished']],
};

const MPI_JOB: WorkloadKind = {
  kind: 'MPIJob',
  group: 'kubeflow.org',
  version: 'v2beta1',
  plural: 'mpijobs',
  words: ['mpi'],
  suspend: ['spec', 'runPolicy', 'suspend'],
  managedBy: { field: ['spec', 'runPolicy', 'managedBy'], builtIn: 'kubeflow.org/mpi-operator' },
  podSets: { in: ['spec', 'mpiReplicaSpecs'], template: ['template'], count: [{ of: ['replicas'] }] },
  podSetLabel: 'training.kubeflow.org/job-role',
  ends: { Succeeded: ['Succeeded'], Failed: ['Failed'] },
  deadline: ['spec', 'runPolicy', 'activeDeadlineSeconds'],
  changeable: [
    ['spec', 'runPolicy', 'cleanPodPolicy'],
    ['spec', 'runPolicy', 'ttlSecondsAfterFinished'],
  ],
};

/** Each of them is tested with the controller of its kind. */
export const WORKLOAD_KINDS: readonly WorkloadKind[] = [JOB_SET, MPI_JOB];

/** Names of the kinds, in their order. */
export const WORKLOAD_KIND_NAMES: readonly string[] = WORKLOAD_KINDS.map(({ kind }) => kind);

/** The kinds with these names. @param names @default - all kinds */
export function workloadKinds(names: readonly string[] = WORKLOAD_KIND_NAMES): readonly WorkloadKind[] {
  return WORKLOAD_KINDS.filter(({ kind }) => names.includes(kind));
}
