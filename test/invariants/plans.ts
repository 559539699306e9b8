/** Checks that nothing is planned behind what has no end. */
import type { Pod } from '../../runtime/kubernetes/types';
import type { Allocation } from '../../runtime/resources/types';
import { unitsIn } from './log';
import type { Observation, SeenRow, Violation } from './observation';

const YEAR_SECONDS = 365 * 24 * 3600;
const WALLTIME = 'fluxqueue/walltime';

/** Reservations of units that a service holds, and estimates that wait for something without an end. */
export function plansBehindServices({ rows, pods, fluxion }: Observation): Violation[] {
  const services = new Set(pods.filter(isService).map(({ metadata }) => metadata.uid));
  const holders = new Map<string, SeenRow>();
  // A service that was told to leave has an end.
  for (const row of rows.filter(
    ({ uid, phase, evictionReason }) => services.has(uid) && holds(phase) && evictionReason === null,
  ))
    for (const unit of unitsIn(row.allocation?.nodes ?? [])) holders.set(unit, row);
  const waiting = new Map(rows.filter(({ phase }) => phase === 'Waiting').map((row) => [row.jobid, row]));
  return [
    ...fluxion.jobs.flatMap((job) => behind(job, waiting.get(job.jobid), holders)),
    ...rows.filter(isEndlessWait).map(
      ({ name }): Violation => ({
        invariant: 'plan',
        text: `the estimated start of ${name} is more than a year ahead`,
      }),
    ),
  ];
}

function behind(
  job: Allocation,
  reserved: SeenRow | undefined,
  holders: ReadonlyMap<string, SeenRow>,
): Violation[] {
  if (reserved === undefined) return [];
  const services = new Set([...unitsIn(job.nodes)].flatMap((unit) => holders.get(unit)?.name ?? []));
  return [...services].map((name) => ({
    invariant: 'plan',
    text: `${reserved.name} is planned behind the service ${name}`,
  }));
}

function isService({ spec, metadata }: Pod): boolean {
  return (
    spec.restartPolicy === 'Always' &&
    spec.activeDeadlineSeconds === undefined &&
    metadata.annotations?.[WALLTIME] === undefined
  );
}

function holds(phase: SeenRow['phase']): boolean {
  return phase === 'Ready' || phase === 'Running';
}

function isEndlessWait({ phase, estimatedStart, submittedAt }: SeenRow): boolean {
  return phase === 'Waiting' && estimatedStart !== null && estimatedStart > submittedAt + YEAR_SECONDS;
}
