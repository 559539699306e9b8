/** What `why` and `when` say of workloads, from their FluxJobs alone. Pure functions. */
import type { FluxJobObject } from '../kubernetes/custom-resources';

/** In the order in which kubectl users ask: what runs, then what waits in its line, then what has ended, newest first. */
export function inLine(fluxJobs: readonly FluxJobObject[]): FluxJobObject[] {
  const rank = ({ status = {} }: FluxJobObject) => RANKS[status.phase ?? 'Waiting'] ?? 1;
  const position = ({ status = {} }: FluxJobObject) => status.position ?? Number.MAX_SAFE_INTEGER;
  const created = ({ metadata }: FluxJobObject) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return fluxJobs.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.spec.queue.localeCompare(b.spec.queue, 'en') ||
      position(a) - position(b) ||
      (rank(a) === LAST ? created(b) - created(a) : created(a) - created(b)),
  );
}

const LAST = 2;
const RANKS: Readonly<Record<string, number>> = { Running: 0, Ready: 0, Waiting: 1, Finished: LAST };

/** As users name it: `job/train`. */
export function nameOf({ spec: { workload } }: FluxJobObject): string {
  return `${workload.kind.toLowerCase()}/${workload.name}`;
}

/**
 * Why a workload waits, or what became of it.
 * @param others the FluxJobs that its user may see, for those ahead of it
 */
export function whyLines(fluxJob: FluxJobObject, others: readonly FluxJobObject[]): string[] {
  const { spec, status = {}, metadata } = fluxJob;
  const { reason, message } = scheduled(fluxJob);
  const name = `${metadata.namespace}/${nameOf(fluxJob)}`;
  const notes = NOTES.flatMap((type) => {
    const note = status.conditions?.find(
      (condition) => condition.type === type && condition.status === 'True',
    );
    return note === undefined ? [] : [`${type}: ${note.message}`];
  });
  if (status.phase === 'Finished')
    return [
      `${name} has ended: ${status.result ?? 'unknown'}, after it ran on ${status.nodes ?? 'no node'}`,
      ...notes,
    ];
  if (status.phase !== 'Waiting')
    return [
      `${name} is ${status.phase ?? 'not judged yet'} on ${status.nodes ?? 'its nodes'}: ${message}`,
      ...notes,
    ];
  const place = status.position === undefined ? '' : `, position ${status.position}`;
  return [
    `${name} waits in queue ${spec.queue}${place}`,
    `${reason}: ${message}`,
    startSentence(fluxJob),
    ...ahead(fluxJob, others),
    ...notes,
  ];
}

/** Conditions that say more about a workload, if they are true. */
const NOTES = ['Stalled', 'PartiallyModeled', 'SettingsReduced'] as const;

/** When a workload starts, as one sentence. */
export function startSentence(fluxJob: FluxJobObject): string {
  const { status = {} } = fluxJob;
  if (status.phase === undefined || (status.phase === 'Waiting' && scheduled(fluxJob).reason === NOT_JUDGED))
    return 'the next pass will tell';
  if (status.startTime !== undefined) return `it started at ${status.startTime}`;
  if (status.estimatedStart !== undefined)
    return `it starts at ${status.estimatedStart} at the latest: nodes are reserved for it`;
  if (status.plannedStart !== undefined)
    return `it would start at about ${status.plannedStart} if nothing else were submitted; this is no promise`;
  if (status.phase === 'Waiting')
    return 'no start is known: the plan does not reach so far, or it waits for something that has no time';
  return 'its nodes are granted, and its first pod does not run yet';
}

const MOST_AHEAD = 3;

function ahead(fluxJob: FluxJobObject, others: readonly FluxJobObject[]): string[] {
  const { position } = fluxJob.status ?? {};
  if (position === undefined || position === 1) return [];
  const before = inLine(others).filter(
    ({ spec, status }) =>
      spec.queue === fluxJob.spec.queue && status?.position !== undefined && status.position < position,
  );
  const names = before
    .slice(-MOST_AHEAD)
    .map((other) => `${nameOf(other)} (position ${other.status!.position})`);
  const hidden = position - 1 - before.length;
  const shown = names.length === 0 ? [] : [`just ahead of it: ${names.join(', ')}`];
  return hidden > 0
    ? [...shown, `${hidden} of those ahead of it ${hidden === 1 ? 'is' : 'are'} in other namespaces`]
    : shown;
}

/** The reason of a workload that no pass has seen. */
const NOT_JUDGED = 'Submitted';

/** What the last pass said of it. */
export function scheduled({ status = {} }: FluxJobObject): {
  readonly reason: string;
  readonly message: string;
} {
  const condition = status.conditions?.find(({ type }) => type === 'Scheduled');
  return {
    reason: condition?.reason ?? NOT_JUDGED,
    message: condition?.message ?? 'no pass has judged it yet',
  };
}
