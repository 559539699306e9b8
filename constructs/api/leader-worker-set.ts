/**
 * LeaderWorkerSets (leaderworkerset.x-k8s.io). Such an object has no field that holds it. Its controller makes StatefulSets of it, one
 * of leaders and one of workers for each leader, so a leader and its workers are a group of plain pods, which admission names for them.
 */
export const LEADER_WORKER_SET = {
  kind: 'LeaderWorkerSet',
  group: 'leaderworkerset.x-k8s.io',
  version: 'v1',
  plural: 'leaderworkersets',
} as const;

const PREFIX = 'leaderworkerset.sigs.k8s.io';
/** Label of its pods: the name of the LeaderWorkerSet. */
export const LWS_NAME_LABEL = `${PREFIX}/name`;
/** Label of its leaders: 0. A webhook of its controller writes that of a worker, which may be after admission to the queue. */
export const LWS_WORKER_LABEL = `${PREFIX}/worker-index`;
export const LWS_LEADER_INDEX = '0';
/** Label of its pods: the templates of which they are made. */
export const LWS_REVISION_LABEL = `${PREFIX}/template-revision-hash`;
/** Annotation of its pods: how many a leader and its workers are. */
export const LWS_SIZE_ANNOTATION = `${PREFIX}/size`;
/** Annotation of a LeaderWorkerSet: the workers of a leader are made once it has a node. */
export const LWS_EXCLUSIVE_ANNOTATION = `${PREFIX}/exclusive-topology`;

/** Where its users write the settings of its pods, for a sentence to them. */
export const LWS_SETTINGS = 'spec.leaderWorkerTemplate.leaderTemplate.metadata and workerTemplate.metadata';
