/**
 * The preemption tables of Kueue (pkg/scheduler/preemption, TestPreemption, and what TestFairPreemptions and
 * TestHierarchicalPreemptions say of flat cohorts without weights), translated by meaning. A policy LowerPriority within a
 * queue is `preempts`, Any in a cohort is `reclaim`, and LowerPriority in a cohort, or while borrowing, is `preempts`
 * with victims that their users have made preemptible: that label says for each workload what a threshold of priorities
 * says for all.
 */
import type { QueueSettings } from '../../../runtime/queue/settings';
import type { GraphNode } from '../../../runtime/resources/types';
import type { JobOptions } from './job-options';
import { PREEMPTS } from './settings';

export interface PreemptionCase {
  readonly queues: Readonly<Record<string, Partial<QueueSettings>>>;
  readonly running: Readonly<Record<string, JobOptions>>;
  readonly incoming: JobOptions;
  readonly evicted: readonly string[];
  /** Where this queue decides otherwise than Kueue: why that is better. @default - both decide the same */
  readonly better?: string;
  /** @default - one node on which everything has room */
  readonly nodes?: readonly GraphNode[];
}

export type Table = Readonly<Record<string, PreemptionCase>>;

export const job = (queue: string, cpu: number, priority = 0, over: JobOptions = {}): JobOptions => ({
  queue,
  cpu,
  priority,
  walltime: 5000,
  preemptible: true,
  ...over,
});

/** Has not said that others may preempt it. */
export const firm = (queue: string, cpu: number, priority = 0) =>
  job(queue, cpu, priority, { preemptible: false });

export const withMemory = (
  queue: string,
  cpu: number,
  gib: number,
  priority = 0,
  over: JobOptions['pod'] = {},
) =>
  job(queue, cpu, priority, {
    pod: { containers: [{ resources: { requests: { cpu, memory: `${gib}Gi` } } }], ...over },
  });

const ALONE = { team: { ...PREEMPTS, quota: { cores: 6 } } };
const THREE = { low: job('team', 2, -1), mid: job('team', 2), high: job('team', 2, 1) };

export const WITHIN_A_QUEUE: Table = {
  'evicts the lowest priority of its queue': {
    queues: ALONE,
    running: THREE,
    incoming: job('team', 2, 1),
    evicted: ['low'],
  },
  'evicts the two lowest priorities where one does not suffice': {
    queues: ALONE,
    running: THREE,
    incoming: job('team', 3, 1),
    evicted: ['low', 'mid'],
  },
  'evicts nothing for the lowest priority': {
    queues: ALONE,
    running: { low: job('team', 3, -1), mid: job('team', 3) },
    incoming: job('team', 1, -1),
    evicted: [],
  },
  'evicts nothing where all lower priorities together are too small': {
    queues: ALONE,
    running: { low: job('team', 3, -1), mid: job('team', 3) },
    incoming: job('team', 4),
    evicted: [],
  },
  'uses free quota before it evicts': {
    queues: ALONE,
    running: { low: job('team', 1, -1), mid: job('team', 1), high: job('team', 3, 1) },
    incoming: job('team', 2, 1),
    evicted: ['low'],
  },
  'spares a small workload of the lowest priority that does not help': {
    queues: ALONE,
    running: { low: job('team', 1, -1), mid: job('team', 2), high: job('team', 3, 1) },
    incoming: job('team', 2, 1),
    evicted: ['mid'],
  },
  'evicts only on the nodes that the workload may use': {
    queues: { team: { ...PREEMPTS, quota: { cores: 6, memoryGiB: 6 } } },
    nodes: ['alpha', 'beta'].map((zone) => ({
      name: zone,
      units: { core: 100, memory: 3 },
      properties: [`zone=${zone}`],
    })),
    running: {
      low: withMemory('team', 1, 2, -1, { nodeSelector: { zone: 'alpha' } }),
      mid: withMemory('team', 1, 1, 0, { nodeSelector: { zone: 'beta' } }),
      high: withMemory('team', 1, 1, 1, { nodeSelector: { zone: 'beta' } }),
    },
    incoming: withMemory('team', 1, 2, 1, { nodeSelector: { zone: 'beta' } }),
    evicted: ['mid'],
  },
  'evicts on several nodes for the pods of one workload': {
    queues: { team: { ...PREEMPTS, quota: { cores: 6 } } },
    nodes: ['alpha', 'beta'].map((name) => ({ name, units: { core: 3 } })),
    running: { alpha: job('team', 2, -1), beta: job('team', 2, -1) },
    incoming: job('team', 3, 0, { pods: 2 }),
    evicted: ['alpha', 'beta'],
  },
  'evicts no workload of the same priority that came later': {
    queues: ALONE,
    running: {
      high: job('team', 2, 2),
      newer: job('team', 2, 1, { submittedAt: 990 }),
      older: job('team', 2, 1),
    },
    incoming: job('team', 2, 1, { submittedAt: 900 }),
    evicted: [],
    better:
      'What came later runs only because it delayed no promise to the older one, so an eviction would lose its work and make up for no injustice.',
  },
  'evicts nothing where the queue does not preempt': {
    queues: { team: { quota: { cores: 6 } } },
    running: { low: job('team', 3, -1) },
    incoming: job('team', 4, 1),
    evicted: [],
  },
  'evicts by priority in a queue that is alone in its cohort': {
    queues: { team: { ...PREEMPTS, cohort: 'legion', quota: { cores: 6 } } },
    running: { mid: job('team', 4), low: job('team', 2, -1) },
    incoming: job('team', 4, 1),
    evicted: ['mid'],
  },
};
