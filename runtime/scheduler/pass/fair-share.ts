import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';

/** Decayed usage at the time of the pass, running workloads included. */
export interface FairShare {
  queueUsage(queue: string): number;
  userUsage(queue: string, user: string): number;
}

/** Factors between 0 and 1: the less a queue or user has used of its share, the higher. */
export interface ShareFactors {
  queue(name: string): number;
  user(queue: string, user: string): number;
}

interface Sharer {
  readonly settings: Pick<QueueSettings, 'name' | 'weight'>;
  readonly rows: readonly Pick<WorkloadRow, 'user'>[];
}

/** @param queues only queues with active rows share: the weight of an idle queue counts for no other queue */
export function shareFactors(usage: FairShare, queues: readonly Sharer[]): ShareFactors {
  const busy = queues.filter(({ rows }) => rows.length > 0);
  const ofQueues = factors(
    busy.map(({ settings: { name, weight } }) => ({ name, weight, used: usage.queueUsage(name) })),
  );
  const ofUsers = new Map(
    busy.map(({ settings: { name }, rows }) => {
      const users = [...new Set(rows.map(({ user }) => user))];
      return [
        name,
        factors(users.map((user) => ({ name: user, weight: 1, used: usage.userUsage(name, user) }))),
      ];
    }),
  );
  return {
    queue: (name) => ofQueues.get(name) ?? 1,
    user: (queue, user) => ofUsers.get(queue)?.get(user) ?? 1,
  };
}

function factors(
  sharers: readonly { readonly name: string; readonly weight: number; readonly used: number }[],
): Map<string, number> {
  const used = sharers.reduce((sum, sharer) => sum + sharer.used, 0);
  const weights = sharers.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(
    sharers.map((sharer) => {
      const part = used === 0 ? 0 : sharer.used / used;
      return [sharer.name, 2 ** -(part / (sharer.weight / weights))];
    }),
  );
}
