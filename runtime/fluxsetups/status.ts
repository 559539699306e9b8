/** The status of a FluxSetup. A pure function of the queue's settings and counts. */
import type { FluxSetupStatus, FluxSetupStatusConditions } from '../../imports/flux-framework.org-status';
import { joined } from '../columns';
import { stamped } from '../kubernetes/conditions';
import type { QueueSettings, Quota } from '../queue/settings';
import type { QueueCounts } from './queue-counts';

export interface FluxSetupFacts {
  readonly queue: string;
  /** Undefined: the FluxSetup is invalid and has no queue. */
  readonly settings: QueueSettings | undefined;
  /** Why the FluxSetup is invalid. */
  readonly problem: string | undefined;
  readonly counts: QueueCounts;
  /** Undefined: not known yet; the status keeps its number. */
  readonly finished: number | undefined;
  readonly previous: FluxSetupStatus;
  /** The FluxSetup's metadata.generation. */
  readonly generation: number;
  /** Unix seconds. */
  readonly now: number;
}

export function fluxSetupStatus(facts: FluxSetupFacts): FluxSetupStatus {
  const { queue, settings, counts, finished, previous, generation, now } = facts;
  const { waiting, ready, running, usage } = counts;
  return {
    queue,
    waiting,
    ready,
    running,
    finished: finished ?? previous.finished ?? 0,
    usage: quantities(usage),
    quota: quantities(settings?.quota ?? {}),
    conditions: conditionsOf(facts).map((condition) => stamped(condition, previous.conditions, now)),
    observedGeneration: generation,
  };
}

type Condition = Omit<FluxSetupStatusConditions, 'lastTransitionTime'>;

function conditionsOf({ settings, problem, generation }: FluxSetupFacts): Condition[] {
  const summary =
    settings === undefined
      ? { reason: 'Invalid', message: problem ?? 'the settings are invalid' }
      : { reason: 'Serving', message: servingText(settings) };
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    observedGeneration: generation,
    ...summary,
  });
  return [
    condition('Ready', settings !== undefined),
    condition('Reconciling', false),
    condition('Stalled', settings === undefined),
  ];
}

function servingText({ policy, quota, reclaim, preempts, fairSharing }: QueueSettings): string {
  const serving = `the queue is in service with policy ${policy}`;
  const rights = [
    ...(reclaim ? ['reclaim'] : []),
    ...(preempts ? ['preemption.policy'] : []),
    ...(fairSharing === 'Never' ? [] : ['preemption.fairSharing']),
  ];
  if (quota.nodes === undefined || rights.length === 0) return serving;
  return `${serving}; nobody is evicted for quota.nodes: for ${joined(rights)} give the same quota in cores as well`;
}

/** Amounts as Kubernetes quantities: `{cores: '2500m', memory: '16Gi'}`. */
function quantities({ memoryGiB, cores, ...counted }: Quota): Record<string, string> {
  return Object.fromEntries([
    ...Object.entries(counted).map(([resource, count]) => [resource, String(count)]),
    ...(cores === undefined ? [] : [['cores', coresOf(cores)]]),
    ...(memoryGiB === undefined ? [] : [['memory', memoryOf(memoryGiB)]]),
  ]);
}

function coresOf(cores: number): string {
  const millis = Math.round(cores * 1000);
  return millis % 1000 === 0 ? String(millis / 1000) : `${millis}m`;
}

function memoryOf(gibibytes: number): string {
  const mebibytes = Math.round(gibibytes * 1024);
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
}
