/**
 * The part of a Job that is kept in memory: what the runtime reads. Of a Job that waits most is its template, and that is
 * the same for all Jobs of one manifest, once the environment and the arguments are left out. Labels and annotations are
 * kept whole, because a release is a patch that tests them.
 */
import type { InternPool } from '../intern';
import { isTrue } from '../kubernetes/conditions';
import { isLarge } from '../kubernetes/object-size';
import type { Job, ObjectMeta } from '../kubernetes/types';
import { keptMetadata, keptPodSpec, mapped, pick } from './pod-projection';

const SPEC = [
  'suspend',
  'parallelism',
  'completions',
  'completionMode',
  'activeDeadlineSeconds',
  'backoffLimitPerIndex',
  'manualSelector',
  'podReplacementPolicy',
] as const;
const STATUS = [
  'active',
  'succeeded',
  'terminating',
  'startTime',
  'completedIndexes',
  'failedIndexes',
] as const;
const CONDITION = ['type', 'status', 'reason', 'message', 'lastTransitionTime'] as const;
/** The conditions that end a Job, and the one that says so before its pods have ended. */
const CONDITIONS: ReadonlySet<string> = new Set(['Complete', 'Failed', 'FailureTarget']);

const SUSPENDED = { type: 'Suspended', status: 'True' } as const;

type Spec = Job['spec'];
type Status = NonNullable<Job['status']>;
type Template = Spec['template'];

/** A Job as its watch keeps it. */
export interface WatchedJob {
  readonly metadata: ObjectMeta;
  readonly spec: Pick<Spec, (typeof SPEC)[number] | 'template'>;
  readonly status?: Pick<Status, (typeof STATUS)[number] | 'conditions'>;
  /** Whether the whole Job is so large that each write of it is expensive. @default false */
  readonly isLarge?: boolean;
}

export function projectJob(job: Job, pool: InternPool): WatchedJob {
  const { metadata, spec, status } = job;
  const { name, uid, annotations } = metadata;
  return {
    metadata: {
      ...keptMetadata(metadata, pool),
      // They are also in labels, in the row and in the FluxJob.
      name: pool.text(name),
      uid: pool.text(uid),
      ...mapped('annotations', annotations && pool.record(annotations)),
    },
    spec: { ...pick(spec, SPEC), template: templateOf(spec.template, pool) },
    ...mapped('status', status && statusOf(status, pool)),
    ...mapped('isLarge', isLarge(job) || undefined),
  };
}

function templateOf({ metadata, spec }: Template, pool: InternPool): Template {
  const { labels, annotations } = metadata ?? {};
  const kept = {
    ...mapped('labels', labels && pool.record(labels)),
    ...mapped('annotations', annotations && pool.record(annotations)),
  };
  const more = pick(spec, ['serviceAccountName']);
  return { ...mapped('metadata', metadata && kept), spec: keptPodSpec(spec, pool, more) };
}

function statusOf(status: Status, pool: InternPool): WatchedJob['status'] & object {
  const conditions = status.conditions?.filter(({ type }) => CONDITIONS.has(type)) ?? [];
  const kept = [
    ...conditions.map((condition) => pick(condition, CONDITION)),
    // It says something only of a Job that has started: most that are suspended have not.
    ...(status.startTime !== undefined && isTrue(status.conditions, 'Suspended') ? [SUSPENDED] : []),
  ];
  return pool.object({
    ...pick(status, STATUS),
    ...mapped('conditions', kept.length > 0 ? kept : undefined),
  });
}
