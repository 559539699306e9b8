/**
 * What the user of a started Job has changed since its start, without an effect: admission warns when it is changed
 * (constructs/fluxqueue/admission/ineffective-changes.ts), and the FluxJob keeps it in view.
 */
import { formatDuration } from '../../constructs/api/durations';
import {
  GRANTED_FIELDS,
  KEPT_PROBLEM,
  SETTING_KEPT_PROBLEM,
  settingKeptRemedy,
} from '../../constructs/api/granted-fields';
import { HOLD, IGNORED_ANNOTATION, PREEMPTIBLE, PRIORITY, WALLTIME } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import type { WorkloadRow } from '../queue/workload';
import { type SettingSource, settingOf, type WorkloadSettings, workloadSettings } from './settings';

const JOB = 'Job';
const FIELD = /^[A-Za-z]{1,63}$/;
const SHOWN = [HOLD, PRIORITY, WALLTIME, PREEMPTIBLE] as const;

/** One clause for each change; none for a workload that the queue did not start, or that has ended. */
export function ignoredChanges(metadata: SettingSource, row: WorkloadRow): readonly string[] {
  const { kind, phase, releasedAt } = row;
  if (kind !== JOB || releasedAt === null || (phase !== 'Ready' && phase !== 'Running')) return [];
  const fields = (metadata.annotations?.[IGNORED_ANNOTATION] ?? '').split(',').filter((it) => FIELD.test(it));
  return [...fields.map(clauseOf), ...ignoredSettings(metadata, row)];
}

/** Whether the changes of one may be others than those of the other. */
export function mayChangeOtherwise(one: SettingSource, other: SettingSource): boolean {
  return [IGNORED_ANNOTATION, ...SHOWN].some((key) => settingOf(one, key) !== settingOf(other, key));
}

function clauseOf(name: string): string {
  const { problem } = GRANTED_FIELDS.find(({ field }) => field === name) ?? { problem: KEPT_PROBLEM };
  return `spec.${name} ${problem}`;
}

function ignoredSettings(metadata: SettingSource, row: WorkloadRow): readonly string[] {
  const settings = settingsOf(metadata);
  if (settings === undefined) return [];
  const { priority, walltimeSeconds } = settings;
  return [
    ...(settings.hold ? [`${HOLD} ${SETTING_KEPT_PROBLEM}; ${settingKeptRemedy(HOLD)}`] : []),
    ...(isOther('priority', priority, row)
      ? [`${PRIORITY} ${priority} ${SETTING_KEPT_PROBLEM} with ${row.priority}`]
      : []),
    ...(isOther('walltime', walltimeSeconds, row)
      ? [`${WALLTIME} ${duration(walltimeSeconds!)} ${SETTING_KEPT_PROBLEM} with ${duration(row.walltime)}`]
      : []),
    ...(settings.preemptible === row.preemptible ? [] : [`${PREEMPTIBLE} ${SETTING_KEPT_PROBLEM}`]),
  ];
}

/** Admission refuses invalid settings, but the object can be older than the opt-in of its namespace. */
function settingsOf(metadata: SettingSource): WorkloadSettings | undefined {
  try {
    return workloadSettings(metadata);
  } catch (error) {
    if (error instanceof FluxqError) return undefined;
    throw error;
  }
}

/** A grant that a limit of the queue reduced says so itself. */
function isOther(name: 'priority' | 'walltime', wanted: number | undefined, row: WorkloadRow): boolean {
  const { reduced = [] } = row.jobspec.attributes.user ?? {};
  return wanted !== undefined && wanted !== row[name] && !reduced.some((it) => it.startsWith(`${name} `));
}

function duration(seconds: number): string {
  return formatDuration(Math.round(seconds * 1000));
}
