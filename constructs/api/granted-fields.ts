/**
 * What may change in the spec of a Job after the queue started it: a whitelist. Kubernetes lets users change more of a
 * running Job than a grant allows, and newer versions let them change more. Admission (CEL and webhook) puts back what is
 * not listed here, without an error, because a manifest that is applied again has the values from before the release; the
 * guard refuses what admission did not see.
 * A test compares the list with the schema of the apiserver, so that a new field fails the test and not a cluster.
 */
import {
  AFTER,
  CHECKPOINT_INTERVAL,
  EXCLUSIVE,
  GANG_SIZE,
  HOLD,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  WALLTIME,
} from './labels';
import { GROUP_SETTINGS, type Setting } from './settings';

/** A field on which the grant is based: it can only become lower, because a higher value asks for more than the grant. */
export interface GrantedField {
  readonly field: 'parallelism' | 'completions' | 'activeDeadlineSeconds';
  /** Why a higher value is refused. */
  readonly problem: string;
  readonly remedy: string;
}

export const GRANTED_FIELDS: readonly GrantedField[] = [
  {
    field: 'parallelism',
    problem: 'cannot be increased after the queue started the Job',
    remedy: 'submit another Job',
  },
  {
    // With it an Indexed Job gets pods for indexes that have no node in its grant.
    field: 'completions',
    problem: 'cannot be increased after the queue started the Job',
    remedy: 'submit another Job',
  },
  {
    // Without it nothing would enforce the walltime.
    field: 'activeDeadlineSeconds',
    problem: 'cannot be increased or removed after the queue started the Job',
    remedy: 'submit another Job with a longer walltime',
  },
];

/** Fields of which admission says elsewhere what a change means. */
const OF_THE_QUEUE = ['suspend'] as const;

/** Retries stay within the nodes and the walltime of the grant, and the record goes after the end. */
const FREE_FIELDS = ['backoffLimit', 'maxFailedIndexes', 'ttlSecondsAfterFinished'] as const;

/** Kubernetes refuses a change of these in a Job that is not suspended, and an engine of GitOps has to hear of it. */
const FROZEN_FIELDS = [
  'backoffLimitPerIndex',
  'completionMode',
  'managedBy',
  'podFailurePolicy',
  'selector',
  'successPolicy',
  'template',
] as const;

/** Fields that are not put back as they were; every other one is, also one that this release does not know. */
export const CHANGEABLE_FIELDS: readonly string[] = [
  ...GRANTED_FIELDS.map(({ field }) => field),
  ...OF_THE_QUEUE,
  ...FREE_FIELDS,
  ...FROZEN_FIELDS,
];

export const KEPT_PROBLEM = 'cannot be changed after the queue started the Job';
export const KEPT_REMEDY = 'keep its value, or submit another Job';

/** Settings of which a started workload has those that it was granted with. */
export const GRANTED_SETTINGS: readonly Setting[] = [
  HOLD,
  PRIORITY,
  WALLTIME,
  QUEUE,
  EXCLUSIVE,
  PREEMPTIBLE,
  CHECKPOINT_INTERVAL,
  GANG_SIZE,
  AFTER,
];

/** The kind of a workload that the queue started. */
export type StartedKind = string;

/** The same of a kind. What was released alone joins no group. */
export function grantedSettings(kind: StartedKind): readonly string[] {
  return kind === 'Pod' ? [...GRANTED_SETTINGS, ...GROUP_SETTINGS] : GRANTED_SETTINGS;
}

/** Of a setting of a pod that a Job made: it has those of the Job. */
export const POD_OF_JOB_PROBLEM = 'has no effect on a pod of a Job';
export const POD_OF_JOB_REMEDY = 'set it in the metadata of the Job before its start';

export function settingKeptProblem(kind: StartedKind): string {
  return `has no effect on a ${kind} that the queue started`;
}

/** A hold of what runs is what somebody adds who wants to stop it. Only a Pod cannot be started again. */
export function settingKeptRemedy(setting: string, kind: StartedKind): string {
  if (setting === HOLD)
    return kind === 'Pod'
      ? 'delete it to stop it, or wait until it ends'
      : `it counts if the queue has to start the ${kind} again, so ${kind === 'Job' ? 'set spec.suspend: true' : 'suspend it'} to stop it now`;
  return kind === 'Pod'
    ? 'submit another Pod'
    : `it counts if the queue has to start the ${kind} again, so submit another ${kind}`;
}
