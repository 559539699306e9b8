/** What a FluxSetup says of its queue. Pure: settings and counts in, status out. */
import type { FluxSetupStatus, FluxSetupStatusConditions } from '../../imports/flux-framework.org-status';
import { stamped } from '../kubernetes/conditions';
import type { QueueSettings, Quota } from '../queue/settings';
import type { QueueCounts } from './queue-counts';

export interface SetupFacts {
  readonly queue: string;
  /** Undefined: it makes no queue. */
  readonly settings: QueueSettings | undefined;
  /** Why it makes none. */
  readonly problem: string | undefined;
  readonly counts: QueueCounts;
  readonly finished: number;
  readonly previous: FluxSetupStatus;
  /** metadata.generation of the FluxSetup. */
  readonly generation: number;
  /** Unix seconds. */
  readonly now: number;
}

export function fluxSetupStatus(facts: SetupFacts): FluxSetupStatus {
  const { queue, settings, counts, finished, previous, generation, now } = facts;
  const { waiting, ready, running, usage } = counts;
  return {
    queue,
    waiting,
    ready,
    running,
    finished,
    usage: quantities(usage),
    quota: quantities(settings?.quota ?? {}),
    conditions: conditionsOf(facts).map((condition) => stamped(condition, previous.conditions, now)),
    observedGeneration: generation,
  };
}

type Condition = Omit<FluxSetupStatusConditions, 'lastTransitionTime'>;

function conditionsOf({ settings, problem, generation }: SetupFacts): Condition[] {
  const words =
    settings === undefined
      ? { reason: 'Invalid', message: problem ?? 'makes no queue' }
      : { reason: 'Serving', message: `the queue is at work, policy ${settings.policy}` };
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    observedGeneration: generation,
    ...words,
  });
  return [
    condition('Ready', settings !== undefined),
    condition('Reconciling', false),
    condition('Stalled', settings === undefined),
  ];
}

/** As Kubernetes quantities: `{cores: '2500m', memory: '16Gi'}`. */
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
