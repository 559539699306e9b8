import type { Dependency, Ended } from '../../queue/workload';

/** Result of the newest workload of this name; undefined: there never was one. */
export type OutcomeOf = (namespace: string, name: string) => Ended | 'active' | undefined;

/** Every message about a dependency that can't be met any more begins with this. */
export const NEVER_MET = 'can never start: ';

/** One that is active, and can never start as things are. */
type Outcome = Ended | 'never';

const ENDED: Readonly<Record<Outcome, string>> = {
  Succeeded: 'has succeeded',
  Failed: 'has failed',
  Cancelled: 'was cancelled',
  TimedOut: 'exceeded its walltime',
  HandedBack: 'left the queue with its namespace, so its end is not known here',
  never: 'can never start',
};

const AWAITED: Readonly<Record<Dependency['type'], string>> = {
  afterok: 'to succeed',
  afterany: 'to end',
  afternotok: 'to fail',
};

/** Seconds for which a workload may be submitted before the one that it names. After that the name may be wrong. */
const MISSING_SECONDS = 300;

/**
 * @param waited seconds since the workload was submitted
 * @returns a message about the dependencies that are not met; undefined if the workload may start
 */
export function unmet(
  after: readonly Dependency[],
  namespace: string,
  outcomeOf: (namespace: string, name: string) => ReturnType<OutcomeOf> | 'never',
  waited = 0,
): string | undefined {
  let pending: string | undefined;
  for (const dependency of after) {
    const { name } = dependency;
    const outcome = outcomeOf(namespace, name);
    if (outcome === undefined) pending ??= missingText(name, waited);
    else if (outcome === 'active') pending ??= `waits for ${name} ${AWAITED[dependency.type]}`;
    else if (!satisfies(dependency, outcome))
      return `${NEVER_MET}waits for ${name} ${AWAITED[dependency.type]}, which ${ENDED[outcome]}`;
  }
  return pending;
}

function missingText(name: string, waited: number): string {
  if (waited < MISSING_SECONDS) return `waits for ${name}, which does not exist yet`;
  return `waits for ${name}, which has never existed in this namespace; correct fluxqueue/after if the name is wrong`;
}

function satisfies({ type }: Dependency, outcome: Outcome): boolean {
  if (outcome === 'HandedBack' || outcome === 'never') return false;
  return type === 'afterany' || (outcome === 'Succeeded') === (type === 'afterok');
}
