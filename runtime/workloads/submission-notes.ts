/** What a submission notes in its jobspec beside what it asks for. */
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

/** Whether they note the same settings. */
export function notesSame(one: Pick<Submission, 'jobspec'>, other: Pick<Submission, 'jobspec'>): boolean {
  const [a, b] = [one, other].map(({ jobspec }) => jobspec.attributes.user);
  return a?.checkpointSeconds === b?.checkpointSeconds && a?.gangSize === b?.gangSize;
}

export function reducedIn({ jobspec }: Pick<Submission, 'jobspec'>): readonly string[] {
  return jobspec.attributes.user?.reduced ?? [];
}
