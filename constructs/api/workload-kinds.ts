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

/** A container that the controller of a kind puts before those of its pods. */
export interface AddedContainer {
  /** Names of the pod sets, whether or not the object has what makes the controller add it. */
  readonly podSets: readonly string[];
  readonly name: string;
  readonly image: string;
  readonly resources: { readonly requests: Readonly<Record<string, string>> };
}

/** A field that the queue takes in no object, because the number of its pods would change while it runs. */
export interface RefusedField {
  readonly field: FieldPath;
  /** What the field does: `lets ... change ...`. */
  readonly effect: string;
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
  /** @default - the pods are as their template */
  readonly initContainer?: AddedContainer;
}

/** How the pods of a kind are made again after they succeeded or failed. */
interface Restarts {
  /** How often at most; 0 if the field is not set. */
  readonly most: FieldPath;
  /** A list of rules with an `action`. */
  readonly rules: FieldPath;
  /** Actions that make no pods again, or count. With any other one they are made again without limit. */
  readonly limited: readonly string[];
}

/**
 * A kind whose controller makes an object of a workload kind, of the same name, for each of its own. What was made is the workload:
 * it has the pod sets, and the settings that its controller copies. It counts for the creator of the object for which it was made.
 */
export interface MakerKind {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Where in its objects the settings of the workload stand, for a sentence to its user. */
  readonly settings: string;
}

/** More kinds of pods than these are hardly one program, and each of them is planned before and after each other. */
export const MOST_POD_SETS = 16;

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
  /**
   * Reasons of the Events that its controller records on an object at its end, which outlive it; of one with `/`, what is before that.
   * Reasons that it also gives for what it tries again are none of them.
   */
  readonly endEvents: { readonly Succeeded: readonly string[]; readonly Failed: readonly string[] };
  /** Longest run in seconds that its user sets. @default - the kind has no such field */
  readonly deadline?: FieldPath;
  /** @default - no pod is made again after it succeeded */
  readonly restarts?: Restarts;
  /** Fields that may change after the queue has started it, besides `suspend`. Each other field of the spec stays as it is. */
  readonly changeable: readonly FieldPath[];
  /** @default - none */
  readonly refused?: readonly RefusedField[];
  /** @default - users make all of its objects */
  readonly maker?: MakerKind;
}

const TRAIN_JOB: MakerKind = {
  kind: 'TrainJob',
  group: 'trainer.kubeflow.org',
  version: 'v1alpha1',
  plural: 'trainjobs',
  settings: 'spec.runtimePatches[].trainingRuntimeSpec.template.metadata',
};

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
  endEvents: {
    Succeeded: ['AllJobsCompleted'],
    Failed: ['FailedJobs', 'ReachedMaxRestarts', 'FailJobSetFailurePolicyAction'],
  },
  restarts: {
    most: ['spec', 'failurePolicy', 'maxRestarts'],
    rules: ['spec', 'failurePolicy', 'rules'],
    limited: ['FailJobSet', 'RestartJobSet', 'RestartJob'],
  },
  changeable: [['spec', 'ttlSecondsAfterFinished']],
  maker: TRAIN_JOB,
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
  // Of its launcher, a Job without indexes. MPIJobFailed is no end: it is said of pods that cannot be made yet.
  endEvents: {
    Succeeded: ['MPIJobSucceeded'],
    Failed: ['BackoffLimitExceeded', 'DeadlineExceeded', 'MPIJobEvicted'],
  },
  deadline: ['spec', 'runPolicy', 'activeDeadlineSeconds'],
  changeable: [
    ['spec', 'runPolicy', 'cleanPodPolicy'],
    ['spec', 'runPolicy', 'ttlSecondsAfterFinished'],
  ],
};

/** Why a field is refused. */
export const refusal = ({ kind }: WorkloadKind, { effect }: RefusedField): string =>
  `${effect}, but the pods of a ${kind} are granted together`;
export const REFUSAL_REMEDY = 'remove it';

/** Fields of the training operator, which makes pods of its objects, and no Jobs. */
interface TrainingFields {
  /** Field below `spec` with a map of pod sets. */
  readonly replicaSpecs: string;
  readonly initContainer?: AddedContainer;
  /** Whether it has an `elasticPolicy`. */
  readonly isElastic?: boolean;
}

/** Kinds of the training operator: `kubeflow.org/v1`. Its MPIJob has the name of the one above in another version, so a cluster has one of them. */
function trainingJob(
  kind: string,
  { replicaSpecs, initContainer, isElastic = false }: TrainingFields,
): WorkloadKind {
  return {
    kind,
    group: 'kubeflow.org',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    words: [],
    suspend: ['spec', 'runPolicy', 'suspend'],
    managedBy: { field: ['spec', 'runPolicy', 'managedBy'], builtIn: 'kubeflow.org/training-operator' },
    podSets: {
      in: ['spec', replicaSpecs],
      template: ['template'],
      count: [{ of: ['replicas'] }],
      ...(initContainer && { initContainer }),
    },
    podSetLabel: 'training.kubeflow.org/replica-type',
    ends: { Succeeded: ['Succeeded'], Failed: ['Failed'] },
    endEvents: { Succeeded: [`${kind}Succeeded`], Failed: [`${kind}Failed`] },
    deadline: ['spec', 'runPolicy', 'activeDeadlineSeconds'],
    changeable: [
      ['spec', 'runPolicy', 'cleanPodPolicy'],
      ['spec', 'runPolicy', 'ttlSecondsAfterFinished'],
    ],
    ...(isElastic && {
      refused: [
        {
          field: ['spec', 'elasticPolicy', 'metrics'],
          effect: 'lets an autoscaler change its number of workers',
        },
      ],
    }),
  };
}

/** The default of the training operator. It waits in it until the master has an address. */
const WAIT_FOR_MASTER: AddedContainer = {
  podSets: ['worker'],
  name: 'init-pytorch',
  image: 'alpine:3.10',
  resources: { requests: { cpu: '50m', memory: '10Mi' } },
};

/** Each of them is tested with the controller of its kind. */
export const WORKLOAD_KINDS: readonly WorkloadKind[] = [
  JOB_SET,
  MPI_JOB,
  trainingJob('PyTorchJob', {
    replicaSpecs: 'pytorchReplicaSpecs',
    initContainer: WAIT_FOR_MASTER,
    isElastic: true,
  }),
  trainingJob('TFJob', { replicaSpecs: 'tfReplicaSpecs' }),
  trainingJob('XGBoostJob', { replicaSpecs: 'xgbReplicaSpecs' }),
  trainingJob('PaddleJob', { replicaSpecs: 'paddleReplicaSpecs', isElastic: true }),
  trainingJob('JAXJob', { replicaSpecs: 'jaxReplicaSpecs' }),
];

/** Labels of pods with the name of their pod set. */
export const POD_SET_LABELS: readonly string[] = [
  ...new Set(WORKLOAD_KINDS.map(({ podSetLabel }) => podSetLabel)),
];

/** Names of the kinds, in their order. */
export const WORKLOAD_KIND_NAMES: readonly string[] = WORKLOAD_KINDS.map(({ kind }) => kind);

/** The kinds with these names. @param names @default - all kinds */
export function workloadKinds(names: readonly string[] = WORKLOAD_KIND_NAMES): readonly WorkloadKind[] {
  return WORKLOAD_KINDS.filter(({ kind }) => names.includes(kind));
}

/** The kinds whose controllers make objects of workload kinds. @param names as of {@link workloadKinds} */
export function makerKinds(names?: readonly string[]): readonly MakerKind[] {
  return workloadKinds(names).flatMap(({ maker }) => (maker === undefined ? [] : [maker]));
}
