/** `list usages`: hours that were held in a period, and the fair shares of this moment. */
import { QUEUE_DEFAULTS } from '../../../constructs/api/queue-defaults';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { type ShareFactors, shareFactors } from '../../scheduler/pass/fair-share';
import { rowsByQueue } from '../../scheduler/queue-rows';
import type { FairShareLine, Usage } from '../kinds';
import type { ReadRequest, ReadResource } from '../resource';
import { answered, isoOf } from './answered';
import { accountingQuery } from './period';
import type { ReadModel } from './read-model';

export function usages(model: ReadModel): ReadResource {
  return {
    name: 'usages',
    singular: 'usage',
    kind: 'Usage',
    namespaced: true,
    verbs: ['list'],
    async answer(request): Promise<Usage> {
      const { namespace } = request;
      const query = accountingQuery(request, model.now());
      const { queue } = await model.openTables();
      const lines = await queue.accounting({ ...query, ...(namespace !== undefined && { namespace }) });
      return {
        ...answered('Usage', request),
        from: isoOf(query.from),
        until: isoOf(query.until),
        lines,
        shares: await sharesFor(model, request),
      };
    },
  };
}

/** Queues are judged by the rows that wait or run in them, as in a pass. */
async function sharesFor(model: ReadModel, request: ReadRequest): Promise<readonly FairShareLine[]> {
  if (!model.options.config.fairShare.enabled) return [];
  const { queue, rows } = await model.tables();
  const queues = await queue.queues();
  const settings = new Map(queues.map((one) => [one.name, one]));
  const weightsOf = (name: string) => (settings.get(name) ?? QUEUE_DEFAULTS).billingWeights;
  const usage = rows.fairUsage(model.now(), weightsOf);
  const active = rowsByQueue(queues, rows.active()).queues;
  const factors = shareFactors(usage, active);
  const total = queues.reduce((sum, { name }) => sum + usage.queueUsage(name), 0);
  const users = usersByQueue(await queue.shares(), rows.active());
  return queues
    .filter((one) => isVisible(one, request))
    .flatMap(({ name, weight }) => {
      const used = usage.queueUsage(name);
      const line = { queue: name, weight, usedShare: partOf(used, total), factor: factors.queue(name) };
      const ofUsers = [...(users.get(name) ?? [])]
        .filter((user) => isOwn(user, request))
        .map((user) => userLine(name, user, partOf(usage.userUsage(name, user), used), factors));
      return [line, ...ofUsers];
    });
}

function userLine(queue: string, user: string, usedShare: number, factors: ShareFactors): FairShareLine {
  return { queue, user, usedShare, factor: factors.user(queue, user) };
}

/** An answer for one namespace has its queues and those of the stack. */
function isVisible({ namespace: owner }: QueueSettings, { namespace }: ReadRequest): boolean {
  return namespace === undefined || owner === null || owner === namespace;
}

/** Whether the answer may have the share of this user: what no person submitted belongs to its namespace. */
export function isOwn(
  user: string,
  { namespace, reader }: Pick<ReadRequest, 'namespace' | 'reader'>,
): boolean {
  return namespace === undefined || user === reader.username || user === `namespace:${namespace}`;
}

interface Sharer {
  readonly queue: string;
  readonly user: string;
}

function usersByQueue(
  shares: readonly Sharer[],
  rows: Iterable<Pick<WorkloadRow, 'queue' | 'user'>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const users = new Map<string, Set<string>>();
  for (const { queue, user } of [...shares, ...rows]) {
    const known = users.get(queue) ?? new Set();
    users.set(queue, known.add(user));
  }
  return users;
}

function partOf(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}
