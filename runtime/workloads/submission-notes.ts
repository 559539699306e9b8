/** What a submission notes in its jobspec beside what it asks for. */
import type { Jobspec } from '../jobspec/types';
import type { Submission } from '../queue/workload';
import type { Addition } from './injected';

/** Notes are no part of the shape. */
export function withNotes(
  jobspec: Jobspec,
  {
    reduced,
    checkpointSeconds,
  }: { readonly reduced: readonly string[]; readonly checkpointSeconds?: number },
  { requests: injected, placement: placed }: Addition = {},
): Jobspec {
  const { attributes } = jobspec;
  const notes = {
    ...(checkpointSeconds !== undefined && { checkpointSeconds }),
    ...(reduced.length > 0 && { reduced }),
    ...(injected && { injected }),
    ...(placed && { placed }),
  };
  if (Object.keys(notes).length === 0) return jobspec;
  return { ...jobspec, attributes: { ...attributes, user: { ...attributes.user, ...notes } } };
}

export function checkpointOf({ jobspec }: Pick<Submission, 'jobspec'>): number | undefined {
  return jobspec.attributes.user?.checkpointSeconds;
}

export function reducedIn({ jobspec }: Pick<Submission, 'jobspec'>): readonly string[] {
  return jobspec.attributes.user?.reduced ?? [];
}
