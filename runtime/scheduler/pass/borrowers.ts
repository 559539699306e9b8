/** Which queues of a cohort have borrowed. */
import { othersPlanToBorrow } from './borrowed-plans';
import { budgetOf, type Pass } from './state';

/** Whether another queue of its cohort runs more than its own quota, or plans to. */
export function othersBorrow(pass: Pass, queue: string): boolean {
  const cohort = budgetOf(pass, { queue }).settings.cohort ?? '';
  const isOther = (other: string) => other !== queue;
  return borrowersOf(pass).get(cohort)?.some(isOther) === true || othersPlanToBorrow(pass, queue);
}

const known = new WeakMap<Pass, ReadonlyMap<string, readonly string[]>>();

/** By cohort: the queues that have borrowed when the pass first asks. */
function borrowersOf(pass: Pass): ReadonlyMap<string, readonly string[]> {
  const found = known.get(pass) ?? findBorrowers(pass);
  known.set(pass, found);
  return found;
}

function findBorrowers({ budgets, quotas, input }: Pass): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [queue, { settings }] of budgets) {
    const { cohort } = settings;
    if (cohort === null || !quotas.borrowedBy(queue, input.now).some((amount) => amount > 0)) continue;
    found.set(cohort, [...(found.get(cohort) ?? []), queue]);
  }
  return found;
}
