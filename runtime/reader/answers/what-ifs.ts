/**
 * `create whatifs`: when a workload would start if it were submitted now. The queue is played forward twice, without and
 * with it, on the same nodes and by the same policies, as if every workload used its walltime. Nothing is stored or sent.
 */
import { NAMESPACE_LABEL } from '../../../constructs/api/labels';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { isEndless } from '../../resources/endless';
import type { Allocation } from '../../resources/types';
import { MOST_PLANNED } from '../../scheduler/queue-plan';
import { submissionsOf } from '../../workloads/submissions';
import type { WhatIf, WhatIfStatus } from '../kinds';
import { RequestSlots } from '../request-slots';
import type { ReadRequest, ReadResource } from '../resource';
import { answered, isoOf } from './answered';
import type { ReadModel } from './read-model';
import {
  likelyStarts,
  PLAN_WATCHES,
  type Planned,
  planned,
  type Situation,
  situationOf,
  sooner,
  withMoreNodes,
} from './situation';
import { type CheckedSpec, checkedSpec, invalid } from './what-if-spec';
import { wouldBeRow } from './would-be-row';

export function whatIfs(model: ReadModel): ReadResource {
  const slots = new RequestSlots(SLOTS);
  return {
    name: 'whatifs',
    singular: 'whatif',
    kind: 'WhatIf',
    namespaced: true,
    verbs: ['create'],
    async answer(request): Promise<WhatIf> {
      const done = slots.take(request.reader.username);
      try {
        return await whatIf(model, request);
      } finally {
        done();
      }
    },
  };
}

async function whatIf(model: ReadModel, request: ReadRequest): Promise<WhatIf> {
  const { namespace = '', reader, body } = request;
  const spec = checkedSpec(body, namespace);
  const present = await situationOf(model, WATCHES);
  const { rows, cluster } = await model.world(WATCHES);
  if (cluster.namespaces.hasLeft(namespace))
    throw invalid(
      'metadata.namespace',
      'is not in the queue, so Kubernetes starts at once what is created there',
      namespace,
      `ask for a namespace with the label ${NAMESPACE_LABEL}: "true"`,
    );
  const { config, logger } = model.options;
  const ignore = () => undefined;
  const builder = submissionsOf(
    {
      ...cluster,
      config,
      logger,
      workloadCache: { byUid: (uid) => rows.byUid(uid), submit: refuseToWrite },
    },
    { onInvalid: ignore, onReduced: ignore },
  );
  const row = wouldBeRow(spec, {
    reader,
    namespace,
    builder,
    webhook: config.webhook,
    workloads: config.workloads,
    now: present.now,
    rows: rows.active(),
  });
  const situation = changed(present, spec, row);
  const without = await planned(situation, model.clock);
  const more = { ...situation, waiting: [...situation.waiting, row] };
  const withIt = await planned(more, model.clock);
  const allocation = withIt.plan.allocations.get(row.uid);
  // What starts at once needs no other plan.
  const likely =
    allocation !== undefined && allocation.start > more.now ? await likelyStarts(model, more) : undefined;
  return {
    ...answered('WhatIf', request),
    spec,
    status: {
      ...startOf(row, withIt, situation),
      ...sooner(likely?.get(row.uid), allocation),
      delays: delaysOf(without, withIt, namespace),
    },
  };
}

/** Each is two plans, which share the time of one process: who asks much has what is left of it no sooner than others. */
const SLOTS = { all: 8, user: 1 };

const WATCHES = [
  ...PLAN_WATCHES,
  // A label of its namespace may name the queue of a workload.
  'namespaces',
  'priorityClasses',
  'runtimeClasses',
  'limitRanges',
  'claims',
  'volumes',
  'storageClasses',
] as const;

async function refuseToWrite(): Promise<never> {
  throw new Error('a question writes nothing');
}

/** Promises were made for the nodes that exist and by the policies that are, so with others everything is planned again. */
function changed(situation: Situation, { moreNodes = 0, policy }: CheckedSpec, row: WorkloadRow): Situation {
  if (moreNodes === 0 && policy === undefined) return situation;
  const withPolicy = (queue: QueueSettings) =>
    queue.name === row.queue && policy !== undefined ? { ...queue, policy } : queue;
  const queues = situation.queues.map(withPolicy);
  return { ...situation, queues, nodes: withMoreNodes(situation.nodes, moreNodes), reservations: [] };
}

function startOf(
  row: WorkloadRow,
  { line, plan }: Planned,
  situation: Situation,
): Omit<WhatIfStatus, 'delays'> {
  const reduced = row.jobspec.attributes.user?.reduced ?? [];
  const besides = reduced.length === 0 ? '' : `. Besides, ${reduced.join('; ')}`;
  const said = (message: string) => `${withoutOthers(message, situation, row.namespace)}${besides}`;
  const { uid, queue } = row;
  const allocation = plan.allocations.get(uid);
  const why = plan.waits.get(uid)?.message;
  if (allocation !== undefined) {
    const { start, end, nodes } = allocation;
    const message =
      start <= situation.now
        ? 'it would start at once'
        : `it would wait: ${why ?? 'nodes are reserved for it'}`;
    return {
      start: isoOf(start),
      ...(isEndless(allocation) ? {} : { end: isoOf(end) }),
      nodes: nodes.map(({ name }) => name),
      message: said(message),
    };
  }
  if (!situation.queues.some(({ name }) => name === queue))
    return { nodes: [], message: said(`it would wait for queue ${queue}, which does not exist`) };
  if (!line.includes(row)) {
    const message = `it would wait behind the first ${MOST_PLANNED} waiting workloads, and no more are planned`;
    return { nodes: [], message: said(message) };
  }
  return { nodes: [], message: said(why ?? 'the time for the plan was used up before it was reached') };
}

/** Workloads that start later than without it. One that was planned and is not any more is behind the end of the plan. */
function delaysOf(without: Planned, withIt: Planned, namespace: string): WhatIfStatus['delays'] {
  return without.line.flatMap((row) => {
    const [before, after] = [without, withIt].map(({ plan }): Allocation | undefined =>
      plan.allocations.get(row.uid),
    );
    if (row.namespace !== namespace || before === undefined || after === undefined) return [];
    if (after.start <= before.start) return [];
    return [{ name: row.name, from: isoOf(before.start), to: isoOf(after.start) }];
  });
}

/** Names of other namespaces are left out: who asks may not see them. */
function withoutOthers(text: string, { holders, waiting, queues }: Situation, namespace: string): string {
  if (!text.includes('/')) return text;
  const hidden = new Map<string, string>();
  for (const queue of queues)
    if (queue.namespace !== null && queue.namespace !== namespace) hidden.set(queue.name, 'another queue');
  for (const row of [...holders, ...waiting])
    if (row.namespace !== namespace)
      hidden.set(`${row.namespace}/${row.name}`, 'a workload of another namespace');
  // Whole names: one may be the beginning of another.
  return text.replaceAll(NAME, (name) => hidden.get(name) ?? name);
}

/** Of a queue, or of a workload with its namespace. */
const NAME = /[a-z0-9](?:[-a-z0-9./]*[a-z0-9])?/g;
