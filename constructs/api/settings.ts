/**
 * Syntax of the labels and annotations by which users describe a workload. Admission (CEL and webhook) refuses what does
 * not match it, and the controller reads it with the same patterns. RE2 (CEL, CRDs) and JavaScript read the patterns alike.
 */
import { DURATION_PATTERN, DURATION_SYNTAX } from './durations';
import {
  AFTER,
  CHECKPOINT_INTERVAL,
  EXCLUSIVE,
  GANG_SIZE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  WALLTIME,
} from './labels';

export const INT32 = { min: -2_147_483_648, max: 2_147_483_647 } as const;

export const PRIORITY_RANGE = { ...INT32 } as const;

/** Also about the lifetime of a Fluxion graph: 68 years. */
export const MAX_WALLTIME_SECONDS = INT32.max;

export const QUEUE_NAME_PATTERN = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
/** The pattern in words. */
export const QUEUE_NAME_SYNTAX = 'at most 63 lower-case letters, digits and "-"';

export const COHORT_PATTERN = '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';
/** The pattern in words. */
export const COHORT_SYNTAX = 'at most 63 letters, digits, "-", "_" and "."';

/** Outcomes of a workload for which another one can wait. */
export const DEPENDENCY_TYPES = ['afterok', 'afterany', 'afternotok'] as const;
/** Names in one `fluxqueue/after`. */
export const MAX_DEPENDENCIES = 100;
const DEPENDENCY = `((${DEPENDENCY_TYPES.join('|')}):)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?`;

export interface SettingSyntax {
  readonly pattern: string;
  /** The pattern and the range of the value in words: "must be ...". */
  readonly requirement: string;
}

const DURATION: SettingSyntax = {
  pattern: DURATION_PATTERN,
  requirement: `must be ${DURATION_SYNTAX} or seconds like "5400", more than 0 and at most ${MAX_WALLTIME_SECONDS} seconds`,
};
const BOOLEAN: SettingSyntax = { pattern: '^(true|false)$', requirement: 'must be "true" or "false"' };

export const SETTING_SYNTAX = {
  [QUEUE]: {
    pattern: QUEUE_NAME_PATTERN,
    requirement: `must be the name of a queue: ${QUEUE_NAME_SYNTAX}`,
  },
  [PRIORITY]: {
    pattern: '^-?[0-9]{1,10}$',
    requirement: `must be a whole number from ${PRIORITY_RANGE.min} to ${PRIORITY_RANGE.max}`,
  },
  [WALLTIME]: DURATION,
  [HOLD]: BOOLEAN,
  [EXCLUSIVE]: BOOLEAN,
  [PREEMPTIBLE]: BOOLEAN,
  [CHECKPOINT_INTERVAL]: DURATION,
  [GANG_SIZE]: { pattern: '^[1-9][0-9]{0,8}$', requirement: 'must be a whole number from 1 to 999999999' },
  [AFTER]: {
    pattern: `^ *${DEPENDENCY} *(, *${DEPENDENCY} *)*$`,
    requirement: `must be at most ${MAX_DEPENDENCIES} names of workloads in this namespace, separated by commas, each with the prefix "afterok:", "afterany:", "afternotok:" or none`,
  },
} as const satisfies Readonly<Record<string, SettingSyntax>>;

/** The largest group of plain pods. */
export const MAX_GROUP_SIZE = 10_000;

/** Settings of Pods alone, beside those of all. */
export const GROUP_SYNTAX = {
  [GROUP]: {
    pattern: QUEUE_NAME_PATTERN,
    requirement: `must be a name: ${QUEUE_NAME_SYNTAX}`,
  },
  [GROUP_SIZE]: {
    pattern: '^[1-9][0-9]{0,4}$',
    requirement: `must be a whole number from 1 to ${MAX_GROUP_SIZE}`,
  },
} as const satisfies Readonly<Record<string, SettingSyntax>>;

/** Labels and annotations that users can set on a workload. */
export type Setting = keyof typeof SETTING_SYNTAX;

export const SETTING_REMEDY = 'correct or remove it';

/** A Job is a group of its own: a second one across Jobs would start in pieces. */
export const GROUP_SETTINGS = [GROUP, GROUP_SIZE] as const;
export const NOT_OF_JOBS_PROBLEM = 'is for Pods alone';
export const NOT_OF_JOBS_REMEDY = 'remove it: the pods of a Job are one workload without it';

/** Settings that all pods of a group have in common, beside its size. */
export const SETTINGS_OF_GROUPS = [
  QUEUE,
  PRIORITY,
  WALLTIME,
  AFTER,
  EXCLUSIVE,
  PREEMPTIBLE,
  CHECKPOINT_INTERVAL,
] as const;

/** What each of the two is without the other. */
export const GROUP_PAIR_PROBLEM = {
  [GROUP]: `has no effect without ${GROUP_SIZE}`,
  [GROUP_SIZE]: `has no effect without ${GROUP}`,
} as const;
export const GROUP_PAIR_REMEDY = 'set both, or remove it';
