/**
 * Objects for which controllers create Jobs and pods. Admission writes the person who created such an object into the
 * metadata that its Jobs and pods will have, so that they count for that person.
 */
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from './labels';
import { makerKinds } from './workload-kinds';

export interface CreatorKind {
  /** Name of the rules for these kinds. */
  readonly name: string;
  readonly apiGroups: readonly string[];
  readonly version: string;
  readonly resources: readonly string[];
  /** Kinds as `GROUP/VERSION/KIND`. */
  readonly kinds: readonly string[];
  /** Path of the object that has the metadata: a template, or the object itself. */
  readonly holder: readonly string[];
}

const WRITTEN_KINDS: readonly CreatorKind[] = [
  {
    name: 'apps',
    apiGroups: ['apps', ''],
    version: 'v1',
    resources: ['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'],
    kinds: ['apps/v1/Deployment', 'apps/v1/ReplicaSet', 'apps/v1/StatefulSet', '/v1/ReplicationController'],
    holder: ['spec', 'template'],
  },
  {
    name: 'cronjobs',
    apiGroups: ['batch'],
    version: 'v1',
    resources: ['cronjobs'],
    kinds: ['batch/v1/CronJob'],
    holder: ['spec', 'jobTemplate'],
  },
  {
    name: 'miniclusters',
    apiGroups: [MINICLUSTER_GROUP],
    version: MINICLUSTER_VERSION,
    resources: ['miniclusters'],
    kinds: [`${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}/MiniCluster`],
    holder: [],
  },
];

export const CREATOR_KINDS: readonly CreatorKind[] = [
  ...WRITTEN_KINDS,
  ...makerKinds().map(({ kind, group, version, plural }) => ({
    name: plural,
    apiGroups: [group],
    version,
    resources: [plural],
    kinds: [`${group}/${version}/${kind}`],
    holder: [],
  })),
];

/**
 * Kinds as `APIVERSION/KIND` whose objects admission judged when a person wrote them. What a controller of Kubernetes
 * creates for one of them has its settings and its user from there; of what it creates for another kind nothing is believed: its
 * user may have written metadata of what is made anywhere in it.
 * The template of a Job of the queue has no settings, and that of another Job has the user of the Job.
 */
export const JUDGED_OWNERS: readonly string[] = [
  ...WRITTEN_KINDS.flatMap(({ kinds }) => kinds).map((kind) => kind.replace(/^\//, '')),
  'batch/v1/Job',
  // Admission leaves its pods alone.
  'apps/v1/DaemonSet',
];
