/**
 * What the user of a started Job or Pod has changed since its start, without an effect: admission warns when it is changed
 * (constructs/fluxqueue/admission/ineffective-changes.ts), and the FluxJob keeps it in view.
 */

import { isDeepStrictEqual } from 'node:util';
import { formatDuration } from '../../constructs/api/durations';
import {
  GRANTED_FIELDS,
  grantedSettings,
  KEPT_PROBLEM,
  type StartedKind,
  settingKeptProblem,
  settingKeptRemedy,
} from '../../constructs/api/granted-fields';
import {
  AFTER,
  CHECKPOINT_INTERVAL,
  EXCLUSIVE,
  GANG_SIZE,
  HOLD,
  IGNORED_ANNOTATION,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  WALLTIME,
} from '../../constructs/api/labels';
import { GROUP_SETTINGS } from '../../constructs/api/settings';
import { FluxqError } from '../errors';
import { askOf } from '../jobspec/jobspec';
import { setsOf } from '../jobspec/pod-sets';
import type { WorkloadRow } from '../queue/workload';
import { queueName } from '../shared/queues';
import { POD_GROUP } from './pod-group';
import {
  podSettings,
  type SettingSource,
  settingOf,
  type WorkloadSettings,
  workloadSettings,
} from './settings';
import { hasOtherGangSize } from './submission-notes';

const FIELD = /^[A-Za-z]{1,63}$/;

/** One clause for each change; none for a workload that the queue did not start, or that has ended. */
export function ignoredChanges(metadata: SettingSource, row: WorkloadRow): readonly string[] {
  const { phase, releasedAt } = row;
  if (releasedAt === null || (phase !== 'Ready' && phase !== 'Running')) return [];
  const fields = (metadata.annotations?.[IGNORED_ANNOTATION] ?? '').split(',').filter((it) => FIELD.test(it));
  return [...fields.map(clauseOf), ...ignoredSettings(metadata, row)];
}

/** Whether the changes of one may be others than those of the other. */
export function mayChangeOtherwise(one: SettingSource, other: SettingSource): boolean {
  return [IGNORED_ANNOTATION, ...grantedSettings('Pod')].some(
    (key) => settingOf(one, key) !== settingOf(other, key),
  );
}

function clauseOf(name: string): string {
  const { problem } = GRANTED_FIELDS.find(({ field }) => field === name) ?? { problem: KEPT_PROBLEM };
  return `spec.${name} ${problem}`;
}

function ignoredSettings(metadata: SettingSource, row: WorkloadRow): readonly string[] {
  const settings = settingsOf(metadata, row);
  if (settings === undefined) return [];
  const { priority, walltimeSeconds } = settings;
  const kind: StartedKind = row.kind === POD_GROUP ? 'Pod' : row.kind;
  const problem = settingKeptProblem(kind);
  return [
    ...(settings.hold ? [`${HOLD} ${problem}; ${settingKeptRemedy(HOLD, kind)}`] : []),
    ...(isOther('priority', priority, row)
      ? [`${PRIORITY} ${priority} ${problem} with ${row.priority}`]
      : []),
    ...(isOther('walltime', walltimeSeconds, row)
      ? [`${WALLTIME} ${duration(walltimeSeconds!)} ${problem} with ${duration(row.walltime)}`]
      : []),
    ...otherSettings(settings, row).map((setting) => `${setting} ${problem}`),
    ...groupSettings(metadata, row).map((setting) => `${setting} ${problem}`),
  ];
}

/** A pod that names a group waits with it, so one that has a row of its own did not when it was released. */
function groupSettings(metadata: SettingSource, { kind }: WorkloadRow): readonly string[] {
  return kind === 'Pod' ? GROUP_SETTINGS.filter((key) => settingOf(metadata, key) !== undefined) : [];
}

function otherSettings(
  { queue = '', preemptible, exclusive, after, checkpointSeconds, gangSize }: WorkloadSettings,
  row: WorkloadRow,
): readonly string[] {
  const changes: readonly (readonly [string, boolean])[] = [
    // Which queue one without the setting would have is not its own choice.
    [`${QUEUE} ${queue}`, queue !== '' && !isQueue(queue, row) && !isReduced('queue', row)],
    [PREEMPTIBLE, preemptible !== row.preemptible],
    [CHECKPOINT_INTERVAL, checkpointSeconds !== row.jobspec.attributes.user?.checkpointSeconds],
    [EXCLUSIVE, exclusive !== askOf(setsOf(row.jobspec)[0]!).exclusive],
    [GANG_SIZE, hasOtherGangSize(row, gangSize)],
    [AFTER, !isDeepStrictEqual(after, row.after)],
  ];
  return changes.flatMap(([setting, isOther]) => (isOther ? [setting] : []));
}

/** A FluxSetup is a queue of its namespace; the queue of the stack is one of all. */
function isQueue(name: string, { namespace, queue }: WorkloadRow): boolean {
  return queue === name || queue === queueName(namespace, name);
}

/** Admission refuses invalid settings, but the object can be older than the opt-in of its namespace. */
function settingsOf(metadata: SettingSource, { kind }: WorkloadRow): WorkloadSettings | undefined {
  try {
    return kind === 'Pod' ? podSettings(metadata) : workloadSettings(metadata);
  } catch (error) {
    if (error instanceof FluxqError) return undefined;
    throw error;
  }
}

/** A grant that a limit of the queue reduced says so itself. */
function isOther(name: 'priority' | 'walltime', wanted: number | undefined, row: WorkloadRow): boolean {
  return wanted !== undefined && wanted !== row[name] && !isReduced(name, row);
}

function isReduced(name: 'priority' | 'walltime' | 'queue', { jobspec }: WorkloadRow): boolean {
  const { reduced = [] } = jobspec.attributes.user ?? {};
  return reduced.some((it) => it.startsWith(`${name} `));
}

function duration(seconds: number): string {
  return formatDuration(Math.round(seconds * 1000));
}
