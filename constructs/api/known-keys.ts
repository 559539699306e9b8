/**
 * The keys of labels and annotations that begin with `fluxqueue/`. Admission (CEL and webhook) refuses others: a misspelled
 * setting would be ignored without a word.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  ENDED_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
} from './labels';
import { GROUP_SETTINGS, SETTING_SYNTAX } from './settings';

export const KEY_PREFIX = 'fluxqueue/';

/** What users write. */
const SETTINGS = [...Object.keys(SETTING_SYNTAX), ...GROUP_SETTINGS];

/** What users do not write. */
export const QUEUE_KEYS: readonly string[] = [
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  ENDED_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  IGNORED_ANNOTATION,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  QUEUED_BY_ANNOTATION,
  SUSPEND_ANNOTATION,
  USER_ANNOTATION,
];

/** Other rules say who may set which of them. */
export const KNOWN_KEYS: readonly string[] = [...SETTINGS, ...QUEUE_KEYS];

/** Keys that the queue itself writes into the template of a Job. */
export const TEMPLATE_KEYS: readonly string[] = [ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION];

export const UNKNOWN_KEY_PROBLEM = 'is not a known setting';
export const TEMPLATE_PROBLEM = 'has no effect in the template of a Job';
export const TEMPLATE_REMEDY = 'move it to the metadata of the Job';

/** Settings that can be suggested, each with the pairs of neighbouring letters in its name. */
export const SUGGESTIONS: readonly { readonly key: string; readonly pairs: readonly string[] }[] =
  SETTINGS.map((key) => ({ key, pairs: pairsOf(key.slice(KEY_PREFIX.length)) }));

/**
 * How near a setting is to a key: the pairs that the key has too, in thousandths of all letters. CEL calculates the same,
 * so it is integers and `contains` only.
 */
function nearness(pairs: readonly string[], name: string): number {
  const common = pairs.filter((pair) => name.includes(pair)).length;
  return Math.floor((common * 1000) / (pairs.length + name.length));
}

/** One pair in common with the name of a long setting is chance: `job-id` is not `checkpoint-interval`. */
export const LEAST_NEARNESS = 100;

/** The nearest setting; undefined if none is near. */
export function nearestSetting(key: string): string | undefined {
  const name = key.slice(KEY_PREFIX.length);
  const scores = SUGGESTIONS.map(({ pairs }) => nearness(pairs, name));
  const best = Math.max(...scores);
  return best < LEAST_NEARNESS ? undefined : SUGGESTIONS[scores.indexOf(best)]!.key;
}

export function unknownKeyRemedy(suggestion: string | undefined): string {
  return suggestion === undefined ? 'remove it' : `remove it, or write ${suggestion} if that is meant`;
}

function pairsOf(name: string): readonly string[] {
  return Array.from({ length: name.length - 1 }, (_, i) => name.slice(i, i + 2));
}
