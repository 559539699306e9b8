import type { Dependency, Result } from '../../queue/workload';

/** Result of the newest workload of this name; undefined: there never was one. */
export type OutcomeOf = (namespace: string, name: string) => Result | 'active' | undefined;

/** Every message about a dependency that can't be met any more begins with this. */
export const NEVER_MET = 'can never start: ';

const ENDED: Readonly<Record<Result, string>> = {
  Succeeded: 'has succeeded',
  Failed: 'has failed',
  Cancelled: 'was cancelled',
  TimedOut: 'exceeded its walltime',
};

const AWAITED: Readonly<Record<Dependency['type'], string>> = {
  afterok: 'to succeed',
  afterany: 'to end',
  afternotok: 'to fail',
};

/** @returns a message about the dependencies that are not met; undefined if the workload may start */
export function unmet(
  after: readonly Dependency[],
  namespace: string,
  outcomeOf: OutcomeOf,
): string | undefined {
  let pending: string | undefined;
  for (const dependency of after) {
    const { name } = dependency;
    const outcome = outcomeOf(namespace, name);
    if (outcome === undefined) pending ??= `waits for ${name}, which does not exist yet`;
    else if (outcome === 'active') pending ??= `waits for ${name} ${AWAITED[dependency.type]}`;
    else if (!satisfies(dependency, outcome))
      return `${NEVER_MET}waits for ${name} ${AWAITED[dependency.type]}, which ${ENDED[outcome]}`;
  }
  return pending;
}

function satisfies({ type }: Dependency, outcome: Result): boolean {
  return type === 'afterany' || (outcome === 'Succeeded') === (type === 'afterok');
}
