import type { Dependency, Result } from '../../queue/workload';

/** How the newest workload of a name stands; undefined: none was ever there. */
export type OutcomeOf = (namespace: string, name: string) => Result | 'active' | undefined;

/** Begins every text of a dependency that can't be met any more. */
export const NEVER_MET = 'can never start: ';

const ENDED: Readonly<Record<Result, string>> = {
  Succeeded: 'has succeeded',
  Failed: 'has failed',
  Cancelled: 'was cancelled',
  TimedOut: 'ran out of its walltime',
};

const AWAITED: Readonly<Record<Dependency['type'], string>> = {
  afterok: 'to succeed',
  afterany: 'to end',
  afternotok: 'to fail',
};

/** @returns in words, what of it is not met; undefined if it may start */
export function unmet(
  after: readonly Dependency[],
  namespace: string,
  outcomeOf: OutcomeOf,
): string | undefined {
  let pending: string | undefined;
  for (const dependency of after) {
    const { name } = dependency;
    const outcome = outcomeOf(namespace, name);
    if (outcome === undefined) pending ??= `waits for ${name}, which is not there yet`;
    else if (outcome === 'active') pending ??= `waits for ${name} ${AWAITED[dependency.type]}`;
    else if (!satisfies(dependency, outcome))
      return `${NEVER_MET}waits for ${name} ${AWAITED[dependency.type]}, which ${ENDED[outcome]}`;
  }
  return pending;
}

function satisfies({ type }: Dependency, outcome: Result): boolean {
  return type === 'afterany' || (outcome === 'Succeeded') === (type === 'afterok');
}
