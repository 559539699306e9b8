/** What a submission notes in its jobspec beside what it asks for. */
import { isArray } from '../jobspec/jobspec';
import type { Jobspec } from '../jobspec/types';
import type { Submission } from '../queue/workload';
import type { Addition } from './injected';
import type { WorkloadSettings } from './settings';

/** Notes are no part of the shape. */
export function withNotes(
  jobspec: Jobspec,
  {
    reduced,
    checkpointSeconds,
    gangSize,
  }: Pick<WorkloadSettings, 'checkpointSeconds' | 'gangSize'> & { readonly reduced: readonly string[] },
  { requests: injected, placement: placed }: Addition = {},
): Jobspec {
  const { attributes } = jobspec;
  const notes = {
    ...(checkpointSeconds !== undefined && { checkpointSeconds }),
    ...(gangSize !== undefined && { gangSize }),
    ...(reduced.length > 0 && { reduced }),
    ...(injected && { injected }),
    ...(placed && { placed }),
  };
  if (Object.keys(notes).length === 0) return jobspec;
  return { ...jobspec, attributes: { ...attributes, user: { ...attributes.user, ...notes } } };
}

/** Whether the row notes the same settings as the submission, as far as it notes them. */
export function notesSame(
  { jobspec: { attributes } }: Pick<Submission, 'jobspec'>,
  row: Pick<Submission, 'jobspec'>,
): boolean {
  const [wanted, known] = [attributes.user, row.jobspec.attributes.user];
  return wanted?.checkpointSeconds === known?.checkpointSeconds && !hasOtherGangSize(row, wanted?.gangSize);
}

/** Whether a row surely has another one. An array has none; of another row that notes none, an earlier version may have queued it. */
export function hasOtherGangSize({ jobspec }: Pick<Submission, 'jobspec'>, gangSize?: number): boolean {
  const noted = jobspec.attributes.user?.gangSize;
  return noted !== gangSize && (noted !== undefined || isArray(jobspec));
}

export function reducedIn({ jobspec }: Pick<Submission, 'jobspec'>): readonly string[] {
  return jobspec.attributes.user?.reduced ?? [];
}
