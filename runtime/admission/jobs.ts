/** Admission of Jobs: held back until the queue releases them. */
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { settingOf, workloadSettings } from '../workloads/settings';
import { addLabels, type JsonPatch, type Metadata } from './review';
import { markUser } from './user';

export interface AdmittedJob {
  readonly metadata?: Metadata;
  readonly spec?: { readonly suspend?: boolean; readonly managedBy?: string };
}

const BUILT_IN_CONTROLLER = 'kubernetes.io/job-controller';
const KUEUE_QUEUE = 'kueue.x-k8s.io/queue-name';

/**
 * Applied to its own result it changes nothing: both forms of admission may be
 * there for a moment, while one replaces the other.
 * @param username who creates it
 * @throws FluxqError FLUXQ_SETTING_INVALID
 */
export function admitJob(job: AdmittedJob, username: string): JsonPatch[] {
  if (belongsToAnother(job)) return [];
  const marked = job.metadata ?? {};
  workloadSettings(marked);
  const suspended = job.spec?.suspend === true;
  // What its user suspended is not ours to start. A Job with our label was suspended by us
  // (the other form of admission, or a copy of a waiting Job).
  const held =
    suspended && marked.labels?.[ADMITTED_LABEL] !== 'true' && settingOf(marked, HOLD) === undefined;
  return [
    ...addLabels(job.metadata, { [ADMITTED_LABEL]: 'true', ...(held ? { [HOLD]: 'true' } : {}) }),
    ...(suspended ? [] : [{ op: 'add', path: '/spec/suspend', value: true } as const]),
    ...markUser(job.metadata, username),
  ];
}

/** Another controller runs it, or another queue suspends it. */
function belongsToAnother({ metadata, spec }: AdmittedJob): boolean {
  const managedBy = spec?.managedBy ?? BUILT_IN_CONTROLLER;
  return managedBy !== BUILT_IN_CONTROLLER || metadata?.labels?.[KUEUE_QUEUE] !== undefined;
}
