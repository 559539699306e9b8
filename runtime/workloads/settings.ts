/**
 * What users say about their workload in labels or annotations
 * `fluxqueue/…`. Where both are there the annotation wins: it can hold what a
 * label can't (commas, a minus sign, 256 kB). Admission refuses what is wrong
 * here, so the controllers may take it as right; they read it with the same
 * function, because objects can be older than their namespace's opt-in.
 *
 * constructs/fluxqueue/admission/settings.ts says the same in CEL; a test
 * holds the two together.
 */
import {
  AFTER,
  EXCLUSIVE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  QUEUE_NAME_PATTERN,
  QUEUE_NAME_SYNTAX,
  WALLTIME,
} from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import { PRIORITY_RANGE } from '../queue/settings';
import { DEPENDENCY_TYPES, type Dependency } from '../queue/workload';

export interface WorkloadSettings {
  /** Name of the queue. @default - the queue of the namespace */
  readonly queue?: string;
  /** Higher starts first; a 32-bit integer. @default - that of its PriorityClass */
  readonly priority?: number;
  /** Seconds, fractions allowed, 0 < walltime <= 2147483647. @default - activeDeadlineSeconds, else the queue's default */
  readonly walltimeSeconds?: number;
  /** Waits until its user says otherwise. @default false */
  readonly hold: boolean;
  /** Whole nodes. @default false */
  readonly exclusive: boolean;
  /** The workloads this one waits for. @default [] */
  readonly after: readonly Dependency[];
  /** May be taken back for a more urgent one. @default false */
  readonly preemptible: boolean;
  /** Name of the gang this pod belongs to; never without groupSize. */
  readonly group?: string;
  /** Number of pods of the gang, 1 to 100000. */
  readonly groupSize?: number;
}

/** The two maps of an object's metadata. */
export interface Marked {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Also about as long as a Fluxion graph lives (68 years). */
const MAX_WALLTIME_SECONDS = 2_147_483_647;
const MAX_GROUP_SIZE = 100_000;

const NUMBER = '([0-9]{1,12}([.][0-9]{0,9})?|[.][0-9]{1,9})';
const UNIT = '(ms|us|µs|μs|ns|h|m|s)';
const SECONDS_OF: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
};
const DEPENDENCY = '((afterok|afterany|afternotok):)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?';

/** What each value must look like (RE2 and JavaScript read these alike), and that in words. */
export const SETTING_SYNTAX: Readonly<Record<string, { readonly pattern: string; readonly must: string }>> = {
  [QUEUE]: {
    pattern: QUEUE_NAME_PATTERN,
    must: `must be the name of a queue: ${QUEUE_NAME_SYNTAX}`,
  },
  [PRIORITY]: {
    pattern: '^-?[0-9]{1,10}$',
    must: 'must be a whole number from -2147483648 to 2147483647',
  },
  [WALLTIME]: {
    pattern: `^[+]?(${NUMBER}|(${NUMBER}${UNIT})+)$`,
    must: 'must be a duration like "1h30m" or seconds like "5400", more than 0 and at most 2147483647 seconds',
  },
  [HOLD]: { pattern: '^(true|false)$', must: 'must be "true" or "false"' },
  [EXCLUSIVE]: { pattern: '^(true|false)$', must: 'must be "true" or "false"' },
  [PREEMPTIBLE]: { pattern: '^(true|false)$', must: 'must be "true" or "false"' },
  [AFTER]: {
    pattern: `^ *${DEPENDENCY} *(, *${DEPENDENCY} *)*$`,
    must: 'must be names of workloads in this namespace, separated by commas, each with "afterok:", "afterany:", "afternotok:" or nothing before it',
  },
  [GROUP]: {
    pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
    must: 'must be a name: at most 63 letters, digits, "-", "_" and "."',
  },
  [GROUP_SIZE]: { pattern: '^[0-9]{1,6}$', must: 'must be a whole number from 1 to 100000' },
};
const PATTERN = new Map(
  Object.entries(SETTING_SYNTAX).map(([name, { pattern }]) => [name, new RegExp(pattern)]),
);

const SETTING_REMEDY = 'correct or remove it';
const GROUP_REMEDY = 'set both or none';

/**
 * @throws FluxqError FLUXQ_SETTING_INVALID; its field names the label or annotation
 */
export function workloadSettings(marked: Marked): WorkloadSettings {
  const queue = read(marked, QUEUE, (text) => text);
  const priority = read(marked, PRIORITY, (text) =>
    within(Number(text), PRIORITY_RANGE.min, PRIORITY_RANGE.max),
  );
  const walltimeSeconds = read(marked, WALLTIME, walltime);
  const group = read(marked, GROUP, (text) => text);
  const groupSize = read(marked, GROUP_SIZE, (text) => within(Number(text), 1, MAX_GROUP_SIZE));
  if ((group === undefined) !== (groupSize === undefined)) throw halfGroup(marked);
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(walltimeSeconds === undefined ? {} : { walltimeSeconds }),
    hold: read(marked, HOLD, (text) => text === 'true') ?? false,
    exclusive: read(marked, EXCLUSIVE, (text) => text === 'true') ?? false,
    after: read(marked, AFTER, (text) => text.split(',').map(dependency)) ?? [],
    preemptible: read(marked, PREEMPTIBLE, (text) => text === 'true') ?? false,
    ...(group === undefined || groupSize === undefined ? {} : { group, groupSize }),
  };
}

/**
 * Seconds of `1h30m` or `5400`.
 * @param field where it stands, for the error
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function durationSeconds(text: string, field: string): number {
  const seconds = PATTERN.get(WALLTIME)?.test(text) ? walltime(text) : undefined;
  if (seconds !== undefined) return seconds;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SETTING_SYNTAX[WALLTIME]?.must ?? 'is no duration', {
    field,
    value: shortened(text),
    remedy: SETTING_REMEDY,
  });
}

/** The value of a setting as given, unchecked. */
export function settingOf({ labels, annotations }: Marked, name: string): string | undefined {
  return annotations?.[name] ?? labels?.[name];
}

/** @param parse gives undefined for a value that only looks right */
function read<T>(marked: Marked, name: string, parse: (text: string) => T | undefined): T | undefined {
  const text = settingOf(marked, name);
  if (text === undefined) return undefined;
  const value = PATTERN.get(name)?.test(text) ? parse(text) : undefined;
  if (value !== undefined) return value;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SETTING_SYNTAX[name]?.must ?? 'is wrong', {
    field: fieldOf(marked, name),
    value: shortened(text),
    remedy: SETTING_REMEDY,
  });
}

function halfGroup(marked: Marked): FluxqError {
  const [present, missing] =
    settingOf(marked, GROUP) === undefined ? [GROUP_SIZE, GROUP] : [GROUP, GROUP_SIZE];
  return new FluxqError('FLUXQ_SETTING_INVALID', `needs ${missing} beside it`, {
    field: fieldOf(marked, present),
    value: shortened(settingOf(marked, present) ?? ''),
    remedy: GROUP_REMEDY,
  });
}

/** A name alone waits for success, as `afterok:` does. */
function dependency(text: string): Dependency {
  const [first = '', name] = text.trim().split(':');
  if (name === undefined) return { type: 'afterok', name: first };
  return { type: DEPENDENCY_TYPES.find((type) => type === first) ?? 'afterok', name };
}

function walltime(text: string): number | undefined {
  const parts = text.matchAll(new RegExp(`${NUMBER}${UNIT}`, 'g'));
  let seconds = /[a-z]$/.test(text) ? 0 : Number(text);
  for (const [, number, , unit] of parts) seconds += Number(number) * (SECONDS_OF[unit ?? 's'] ?? 1);
  return seconds > 0 ? within(seconds, 0, MAX_WALLTIME_SECONDS) : undefined;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function fieldOf({ annotations }: Marked, name: string): string {
  return `metadata.${annotations?.[name] === undefined ? 'labels' : 'annotations'}["${name}"]`;
}

/** The value stands in a sentence that the apiserver cuts off at 5 kB. */
function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length > 80 ? `${characters.slice(0, 80).join('')}…` : text;
}
