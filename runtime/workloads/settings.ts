/**
 * What users say about their workload in labels or annotations
 * `fluxqueue/…`. Where both are there the annotation wins: it can hold what a
 * label can't (commas, a minus sign, 256 kB). Admission refuses what is wrong
 * here, so the controllers may take it as right; they read it with the same
 * function, because objects can be older than their namespace's opt-in.
 *
 * constructs/api/settings.ts defines the syntax, constructs/fluxqueue/admission/settings.ts is the same check in CEL.
 */
import { parseDuration } from '../../constructs/api/durations';
import { AFTER, EXCLUSIVE, HOLD, PREEMPTIBLE, PRIORITY, QUEUE, WALLTIME } from '../../constructs/api/labels';
import {
  DEPENDENCY_TYPES,
  MAX_WALLTIME_SECONDS,
  PRIORITY_RANGE,
  SETTING_REMEDY,
  SETTING_SYNTAX,
  type Setting,
  UNSUPPORTED_PROBLEM,
  UNSUPPORTED_REMEDY,
  UNSUPPORTED_SETTINGS,
} from '../../constructs/api/settings';
import { FluxqError } from '../errors';
import type { Dependency } from '../queue/workload';

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
}

/** The two maps of an object's metadata. */
export interface Marked {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

const PATTERN = new Map(
  Object.entries(SETTING_SYNTAX).map(([name, { pattern }]) => [name, new RegExp(pattern)]),
);

/**
 * @throws FluxqError FLUXQ_SETTING_INVALID; its field names the label or annotation
 */
export function workloadSettings(marked: Marked): WorkloadSettings {
  for (const name of UNSUPPORTED_SETTINGS) refuse(marked, name);
  const queue = read(marked, QUEUE, (text) => text);
  const priority = read(marked, PRIORITY, (text) =>
    within(Number(text), PRIORITY_RANGE.min, PRIORITY_RANGE.max),
  );
  const walltimeSeconds = read(marked, WALLTIME, walltime);
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(priority === undefined ? {} : { priority }),
    ...(walltimeSeconds === undefined ? {} : { walltimeSeconds }),
    hold: read(marked, HOLD, (text) => text === 'true') ?? false,
    exclusive: read(marked, EXCLUSIVE, (text) => text === 'true') ?? false,
    preemptible: read(marked, PREEMPTIBLE, (text) => text === 'true') ?? false,
    after: read(marked, AFTER, (text) => text.split(',').map(dependency)) ?? [],
  };
}

/**
 * Seconds of `1h30m` or `5400`.
 * @param field where it stands, for the error
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function durationSeconds(text: string, field: string): number {
  const seconds = walltime(text);
  if (seconds !== undefined) return seconds;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SETTING_SYNTAX[WALLTIME].requirement, {
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
function read<T>(marked: Marked, name: Setting, parse: (text: string) => T | undefined): T | undefined {
  const text = settingOf(marked, name);
  if (text === undefined) return undefined;
  const value = PATTERN.get(name)?.test(text) ? parse(text) : undefined;
  if (value !== undefined) return value;
  throw new FluxqError('FLUXQ_SETTING_INVALID', SETTING_SYNTAX[name].requirement, {
    field: fieldOf(marked, name),
    value: shortened(text),
    remedy: SETTING_REMEDY,
  });
}

/** @throws FluxqError where the object has the label or annotation */
function refuse(marked: Marked, name: string): void {
  const text = settingOf(marked, name);
  if (text === undefined) return;
  throw new FluxqError('FLUXQ_SETTING_INVALID', UNSUPPORTED_PROBLEM, {
    field: fieldOf(marked, name),
    value: shortened(text),
    remedy: UNSUPPORTED_REMEDY,
  });
}

/** A name alone waits for success, as `afterok:` does. */
function dependency(text: string): Dependency {
  const [first = '', name] = text.trim().split(':');
  if (name === undefined) return { type: 'afterok', name: first };
  return { type: DEPENDENCY_TYPES.find((type) => type === first) ?? 'afterok', name };
}

function walltime(text: string): number | undefined {
  const seconds = parseDuration(text) ?? 0;
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
