/**
 * Kinds whose own metadata the queue does not read, because their controllers make the workloads: a setting there has no effect, and
 * admission warns about it. It refuses settings of the makers of workload kinds, which were never accepted.
 */
import { KEY_PREFIX } from './known-keys';
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION, USER_ANNOTATION } from './labels';

interface UnreadKind {
  readonly apiVersion: string;
  readonly plural: string;
  /** What to do with a setting in its metadata. */
  readonly remedy: string;
}

const IN_TEMPLATE = 'move it to spec.template.metadata';

export const UNREAD_KINDS: Readonly<Record<string, UnreadKind>> = {
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments', remedy: IN_TEMPLATE },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets', remedy: IN_TEMPLATE },
  ReplicationController: { apiVersion: 'v1', plural: 'replicationcontrollers', remedy: IN_TEMPLATE },
  DaemonSet: {
    apiVersion: 'apps/v1',
    plural: 'daemonsets',
    remedy: 'remove it: its pods run beside the queue',
  },
  CronJob: {
    apiVersion: 'batch/v1',
    plural: 'cronjobs',
    remedy: 'move it to spec.jobTemplate.metadata',
  },
  MiniCluster: {
    apiVersion: `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`,
    plural: 'miniclusters',
    remedy:
      'use spec.queue, spec.walltime, spec.priority, spec.suspend or spec.exclusive, or move it to spec.jobLabels',
  },
};

export const unreadProblem = (kind: string) => `has no effect on a ${kind}; ${UNREAD_KINDS[kind]?.remedy}`;

/** Admission notes the user of a MiniCluster on the object itself. */
export function isUnreadKey(kind: string, key: string): boolean {
  return key.startsWith(KEY_PREFIX) && !(kind === 'MiniCluster' && key === USER_ANNOTATION);
}
