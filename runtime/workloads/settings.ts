/**
 * Parses the settings of a workload: its labels and annotations `fluxqueue/…`.
 * An annotation overrides the label of the same name, because it can contain
 * what a label cannot (commas, a minus sign, 256 kB). Admission denies invalid
 * settings, and the controllers use the same function, because an object can be
 * older than the opt-in of its namespace.
 *
 * constructs/api/settings.ts defines the syntax, constructs/fluxqueue/admission/settings.ts is the same check in CEL.
 */
import { parseDuration } from '../../constructs/api/durations';
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
} from '../../constructs/api/labels';
import {
  DEPENDENCY_TYPES,
  GROUP_PAIR_PROBLEM,
  GROUP_PAIR_REMEDY,
  GROUP_SETTINGS,
  GROUP_SYNTAX,
  MAX_DEPENDENCIES,
  MAX_GROUP_SIZE,
  MAX_WALLTIME_SECONDS,
  NOT_OF_JOBS_PROBLEM,
  NOT_OF_JOBS_REMEDY,
  PRIORITY_RANGE,
  SETTING_REMEDY,
  SETTING_SYNTAX,
  type SettingSyntax,
} from '../../constructs/api/settings';
import { FluxqError } from '../errors';
import type { Dependency } from '../queue/workload';

export interface WorkloadSettings {
  /** Name of the queue. @default - the queue of the namespace */
  readonly queue?: string;
  /** Workloads with a higher priority start first; a 32-bit integer. @default - the value of its PriorityClass */
  readonly priority?: number;
  /** Seconds, with fractions, 0 < walltime <= 2147483647. @default - activeDeadlineSeconds, else the queue's default */
  readonly walltimeSeconds?: number;
  /** Pods of a Job that need each other. @default - none do, unless its owner says so */
  readonly gangSize?: number;
  /** Whether the workload waits until its user removes the hold. @default false */
  readonly hold: boolean;
  /** Whether the workload gets whole nodes. @default false */
  readonly exclusive: boolean;
  /** The workloads on which this one depends. @default [] */
  readonly after: readonly Dependency[];
  /** Whether a more urgent workload can preempt this one. @default false */
  readonly preemptible: boolean;
  /** Seconds of work that an eviction loses at most, above 0. @default - all that it has done */
  readonly checkpointSeconds?: number;
}

/** Labels and annotations of an object, some of which are settings. */
export interface SettingSource {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

const SYNTAX: Readonly<Record<string, SettingSyntax>> = { ...SETTING_SYNTAX, ...GROUP_SYNTAX };
const PATTERN = new Map(Object.entries(SYNTAX).map(([name, { pattern }]) => [name, new RegExp(pattern)]));

/**
 * Parses all settings of a Job.
 * @throws FluxqError FLUXQ_SETTING_INVALID; its field names the label or annotation
 */
export function workloadSettings(object: SettingSource): WorkloadSettings {
  for (const name of GROUP_SETTINGS) reject(object, name, [NOT_OF_JOBS_PROBLEM, NOT_OF_JOBS_REMEDY]);
  return commonSettings(object);
}

/**
 * Parses all settings of a Pod.
 * @throws FluxqError FLUXQ_SETTING_INVALID; its field names the label or annotation
 */
export function podSettings(object: SettingSource): WorkloadSettings {
  const group = readSetting(object, GROUP, (text) => text);
  const size = readSetting(object, GROUP_SIZE, (text) => within(Number(text), 1, MAX_GROUP_SIZE));
  if (size === undefined) reject(object, GROUP, [GROUP_PAIR_PROBLEM[GROUP], GROUP_PAIR_REMEDY]);
  if (group === undefined) reject(object, GROUP_SIZE, [GROUP_PAIR_PROBLEM[GROUP_SIZE], GROUP_PAIR_REMEDY]);
  return commonSettings(object);
}

function commonSettings(object: SettingSource): WorkloadSettings {
  const queue = readSetting(object, QUEUE, (text) => text);
  const priority = readSetting(object, PRIORITY, (text) =>
    within(Number(text), PRIORITY_RANGE.min, PRIORITY_RANGE.max),
  );
  const walltimeSeconds = readSetting(object, WALLTIME, parseWalltime);
  const gangSize = readSetting(object, GANG_SIZE, Number);
  const checkpointSeconds = readSetting(object, CHECKPOINT_INTERVAL, parseWalltime);
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(walltimeSeconds === undefined ? {} : { walltimeSeconds }),
    ...(gangSize === undefined ? {} : { gangSize }),
    ...(checkpointSeconds === undefined ? {} : { checkpointSeconds }),
    hold: readSetting(object, HOLD, (text) => text === 'true') ?? false,
    exclusive: readSetting(object, EXCLUSIVE, (text) => text === 'true') ?? false,
    preemptible: readSetting(object, PREEMPTIBLE, (text) => text === 'true') ?? false,
    after: readSetting(object, AFTER, parseDependencies) ?? [],
  };
}

/**
 * Parses a duration such as `1h30m` or `5400` into seconds.
 * @param field field path for the error
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function durationSeconds(text: string, field: string): number {
  const seconds = parseWalltime(text);
  if (seconds !== undefined) return seconds;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SETTING_SYNTAX[WALLTIME].requirement, {
    field,
    value: truncate(text),
    remedy: SETTING_REMEDY,
  });
}

/** The unchecked value of a setting. */
export function settingOf({ labels, annotations }: SettingSource, name: string): string | undefined {
  return annotations?.[name] ?? labels?.[name];
}

/** @param parse returns undefined for a value that matches the pattern but is out of range */
function readSetting<T>(
  object: SettingSource,
  name: string,
  parse: (text: string) => T | undefined,
): T | undefined {
  const text = settingOf(object, name);
  if (text === undefined) return undefined;
  const value = PATTERN.get(name)?.test(text) ? parse(text) : undefined;
  if (value !== undefined) return value;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SYNTAX[name]!.requirement, {
    field: fieldOf(object, name),
    value: truncate(text),
    remedy: SETTING_REMEDY,
  });
}

/** @throws FluxqError FLUXQ_SETTING_INVALID if the object has this label or annotation */
function reject(
  object: SettingSource,
  name: string,
  [problem, remedy]: readonly [problem: string, remedy: string],
): void {
  const text = settingOf(object, name);
  if (text === undefined) return;
  throw new FluxqError('FLUXQ_SETTING_INVALID', problem, {
    field: fieldOf(object, name),
    value: truncate(text),
    remedy,
  });
}

function parseDependencies(text: string): readonly Dependency[] | undefined {
  const names = text.split(',');
  return names.length > MAX_DEPENDENCIES ? undefined : names.map(parseDependency);
}

/** A name without a type means `afterok:`. */
function parseDependency(text: string): Dependency {
  const [first = '', name] = text.trim().split(':');
  if (name === undefined) return { type: 'afterok', name: first };
  return { type: DEPENDENCY_TYPES.find((type) => type === first) ?? 'afterok', name };
}

function parseWalltime(text: string): number | undefined {
  const seconds = parseDuration(text) ?? 0;
  return seconds > 0 ? within(seconds, 0, MAX_WALLTIME_SECONDS) : undefined;
}

function within(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function fieldOf({ annotations }: SettingSource, name: string): string {
  return `metadata.${annotations?.[name] === undefined ? 'labels' : 'annotations'}["${name}"]`;
}

/** The value is part of a message, which the apiserver truncates at 5 kB. */
function truncate(text: string): string {
  const characters = Array.from(text);
  return characters.length > 80 ? `${characters.slice(0, 80).join('')}…` : text;
}
