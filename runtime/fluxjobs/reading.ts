/** What commands and the dashboard read in a FluxJob. Pure functions. */
import type { FluxJobObject } from '../kubernetes/custom-resources';
import type { WorkloadRow } from '../queue/workload';
import { compareListed, type Listed } from '../queue-order';
import { parseHostlist } from '../resources/hostlist';
import type { Reason } from './status';

/** In the order of lists for people. */
export function inLine(fluxJobs: readonly FluxJobObject[]): FluxJobObject[] {
  return fluxJobs.toSorted((a, b) => compareListed(listed(a), listed(b)));
}

function listed(fluxJob: FluxJobObject): Listed {
  const { phase, position } = fluxJob.status ?? {};
  return { phase, queue: fluxJob.spec.queue, position, created: submittedAt(fluxJob) ?? '' };
}

/** As users name it: `job/train`. */
export function nameOf({ spec: { workload } }: FluxJobObject): string {
  return `${workload.kind.toLowerCase()}/${workload.name}`;
}

/** When its workload was created: its FluxJob may be made later, and again. */
export function submittedAt({ metadata, status }: FluxJobObject): string | undefined {
  return status?.submitTime ?? metadata.creationTimestamp;
}

/** The reason of a workload that no pass has judged. */
export const NOT_JUDGED: Reason = 'Submitted';

export function scheduled({ status = {} }: Pick<FluxJobObject, 'status'>): {
  readonly reason: string;
  readonly message: string;
} {
  const condition = status.conditions?.find(({ type }) => type === 'Scheduled');
  return {
    reason: condition?.reason ?? NOT_JUDGED,
    message: condition?.message ?? 'no pass has judged it yet',
  };
}

/** Conditions that say more about a workload, if they are true. */
const NOTES = [
  'PartiallyModeled',
  'SettingsReduced',
  'MoreThanGranted',
  'ChangeIgnored',
  'RolloutWaits',
] as const;

export function notesOf({ status = {} }: FluxJobObject): string[] {
  return NOTES.flatMap((type) => {
    const note = status.conditions?.find(
      (condition) => condition.type === type && condition.status === 'True',
    );
    return note === undefined ? [] : [`${type}: ${note.message}`];
  });
}

/** The end of a hostlist that is too long. */
const CUT = '…';

/** Nodes of its allocation, of a very long list those before the cut. */
export function nodesOf({ status }: FluxJobObject): string[] {
  return (parseHostlist(status?.nodes ?? '') ?? []).filter((node) => node !== CUT);
}

/** The row's jobspec, which its FluxJob has as text. */
type Jobspec = WorkloadRow['jobspec'];

/** What its jobspec keeps for people; undefined if the FluxJob has no jobspec. */
export function userPartOf({ jobspec }: FluxJobObject['spec']): Jobspec['attributes']['user'] {
  return jobspec === undefined ? undefined : (JSON.parse(jobspec) as Jobspec).attributes.user;
}
