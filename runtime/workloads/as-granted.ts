/**
 * A released workload as its grant has it. What its user changes meanwhile counts for its next grant, so nothing may read it from the
 * object: whoever reads a Job under its grant reads it as granted.
 */
import { ASSIGNMENT_ANNOTATION, GANG_SIZE } from '../../constructs/api/labels';
import { isArray } from '../jobspec/jobspec';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WatchedJob } from '../shared/job-projection';
import type { ActiveWorkload } from './adapter';
import { isOpen } from './assignment';
import { hasGangOwner } from './job';
import { settingOf } from './settings';
import { stagedAsGranted } from './staged';

export function asGranted(workload: ActiveWorkload): ActiveWorkload {
  const { object, row } = workload;
  return stagedAsGranted({ ...workload, object: objectAsGranted(object, row), live: object });
}

/** The object with the gang size of its grant. */
export function objectAsGranted(object: KubernetesObject, row: WorkloadRow): KubernetesObject {
  if (row.kind !== 'Job' || row.releasedAt === null) return object;
  const granted = grantedGangSize(object, row);
  const { metadata } = object;
  if (settingOf(metadata, GANG_SIZE) === granted) return object;
  const [{ [GANG_SIZE]: _, ...labels }, { [GANG_SIZE]: __, ...annotations }] = [
    metadata.labels ?? {},
    metadata.annotations ?? {},
  ];
  const own = granted === undefined ? annotations : { ...annotations, [GANG_SIZE]: granted };
  return { ...object, metadata: { ...metadata, labels, annotations: own } };
}

/** The gang size with which a workload was granted. An earlier version noted none: its gangs have that of the object. */
function grantedGangSize(object: KubernetesObject, row: WorkloadRow): string | undefined {
  const { gangSize } = row.jobspec.attributes.user ?? {};
  if (gangSize !== undefined) return String(gangSize);
  const own = settingOf(object.metadata, GANG_SIZE);
  const isOwn = own !== undefined && row.kind === 'Job' && isEarlierGang(object as WatchedJob, row);
  return isOwn ? own : undefined;
}

function isEarlierGang(job: WatchedJob, { jobspec, pods }: WorkloadRow): boolean {
  if (isArray(jobspec)) return false;
  // A grant that has no gang size is elastic in no version, and a gang of several pods because of its owner.
  return (
    isOpen(job.spec.template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION]) ||
    (pods > 1 && !hasGangOwner(job))
  );
}
