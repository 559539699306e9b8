/** `list priorities`: the waiting workloads in the order of a pass, factor by factor. */
import { factorsOf, pointsOf } from '../../scheduler/pass/order';
import type { PrioritizedJob, Priority } from '../kinds';
import type { ReadResource } from '../resource';
import { answered, isoOf } from './answered';
import type { ReadModel } from './read-model';
import { Recent } from './recent';
import { lineOf, precedenceIn, situationOf } from './situation';
import { isOwn } from './usages';

/** Milliseconds for which the order counts as present. */
const ORDER_MS = 1_000;

interface Ordered {
  readonly now: number;
  readonly jobs: readonly { readonly user: string; readonly job: PrioritizedJob }[];
}

export function priorities(model: ReadModel): ReadResource {
  const order = new Recent(model.clock, ORDER_MS, () => orderNow(model));
  return {
    name: 'priorities',
    singular: 'priority',
    kind: 'Priority',
    namespaced: true,
    verbs: ['list'],
    async answer(request): Promise<Priority> {
      const { namespace } = request;
      const { now, jobs } = await order.get();
      // The factors of a user tell what it has used.
      const visible = jobs.filter(
        ({ user, job }) => namespace === undefined || (job.namespace === namespace && isOwn(user, request)),
      );
      return { ...answered('Priority', request), now: isoOf(now), jobs: visible.map(({ job }) => job) };
    },
  };
}

async function orderNow(model: ReadModel): Promise<Ordered> {
  const situation = await situationOf(model);
  const precedence = precedenceIn(situation);
  const jobs = lineOf(situation, precedence).map((row) => {
    const { namespace, name, kind, uid, queue, user } = row;
    const factors = factorsOf(row, precedence);
    return { user, job: { namespace, name, kind, uid, queue, points: pointsOf(factors), factors } };
  });
  return { now: situation.now, jobs };
}
