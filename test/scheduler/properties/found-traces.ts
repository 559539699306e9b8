/** The smallest traces of seeds that failed: each broke the conservation of work or evicted in vain until its cause was cured. */
import type { Scenario, Settings } from './eviction-traces';

function queue(cores: number, over: Partial<Settings> = {}): Settings {
  return {
    policy: 'easy',
    cohort: 'lab',
    quota: { cores },
    borrowing: {},
    lending: {},
    reclaim: false,
    preempts: false,
    preemption: { minRuntimeSeconds: 0, limit: 1_000 },
    ...over,
  };
}

type Job = Scenario['jobs'][number];

/** Pods of so many cores for so many seconds. */
function job(
  of: string,
  pods: number,
  cpu: number,
  walltime: number,
  { grace, ...over }: Partial<Job> & { readonly grace?: number } = {},
): Job {
  const pod = grace === undefined ? {} : { pod: { terminationGracePeriodSeconds: grace } };
  const job = { queue: of, pods, cpu, walltime, gap: 0, priority: 0, preemptible: false, leaves: 30 };
  return { ...job, runs: walltime, ...pod, ...over };
}

export const FOUND_TRACES: readonly (Scenario & { readonly name: string })[] = [
  {
    name: 'starts what waited for the old end of a workload that is evicted',
    nodes: 8,
    queues: {
      a: queue(2),
      b: queue(8, { reclaim: true }),
      c: queue(100, { cohort: null }),
    },
    jobs: [
      job('b', 2, 1, 600),
      job('b', 3, 3, 100),
      job('a', 1, 1, 600, { gap: 17, leaves: 120, grace: 120 }),
      job('b', 1, 1, 3000),
      job('a', 2, 1, 100),
      job('b', 3, 2, 100, { gap: 40 }),
    ],
  },
  {
    name: 'starts what was in the way of a reservation that has moved',
    nodes: 3,
    queues: {
      a: queue(6, { preempts: true }),
      b: queue(3, { reclaim: true }),
      c: queue(4),
    },
    jobs: [
      job('a', 1, 4, 600),
      job('c', 1, 1, 3000, { priority: -1, preemptible: true, leaves: 60, grace: 60 }),
      job('b', 3, 3, 100),
      job('c', 2, 3, 600, { gap: 40, priority: 1, leaves: 10, grace: 10 }),
      job('c', 1, 3, 100, { priority: 1 }),
      job('a', 2, 1, 100),
      job('c', 3, 1, 100, { priority: 1 }),
      job('b', 2, 1, 100),
      job('a', 1, 1, 100, { gap: 41 }),
    ],
  },
  {
    name: 'starts what fits beside a reservation that an early end has moved',
    nodes: 3,
    queues: {
      a: queue(100, { policy: 'conservative', cohort: null }),
      b: queue(100, { cohort: null }),
      c: queue(100, { cohort: null }),
    },
    jobs: [
      job('c', 3, 4, 100),
      job('c', 2, 3, 600, { gap: 48, priority: 1 }),
      job('c', 3, 1, 3000, { priority: 1 }),
      job('c', 1, 1, 3000),
      job('a', 1, 2, 600, { priority: -1, runs: 300 }),
      job('a', 3, 1, 600),
      job('c', 3, 3, 100, { priority: 1 }),
      job('b', 3, 1, 100, { priority: 1, runs: 600 }),
      job('b', 1, 3, 100),
      job('a', 3, 2, 100, { priority: -1 }),
    ],
  },
  {
    name: 'keeps the place of a preemptor whose victim leaves late, though an earlier workload could use it',
    nodes: 3,
    queues: {
      a: queue(11, { policy: 'conservative', cohort: null, preempts: true }),
      b: queue(100, { cohort: null }),
      c: queue(100, { cohort: null }),
    },
    jobs: [
      job('a', 3, 3, 600, { priority: 1, runs: 60 }),
      job('b', 3, 2, 600),
      job('a', 2, 4, 3000, { priority: 1 }),
      job('a', 1, 2, 3000, { gap: 54, preemptible: true, leaves: 140, grace: 60 }),
      job('a', 1, 4, 3000, { priority: 1 }),
      job('a', 1, 2, 3000, { gap: 56, priority: 1 }),
    ],
  },
  {
    name: 'keeps the nodes of a claim whose victim leaves late from a higher priority of another queue',
    nodes: 3,
    queues: {
      a: queue(5, { reclaim: true }),
      b: queue(100, { cohort: null }),
      c: queue(2),
    },
    jobs: [
      job('c', 1, 1, 600),
      job('c', 1, 3, 3000, { priority: -1, leaves: 200, grace: 120 }),
      job('a', 1, 4, 100, { gap: 7 }),
      job('b', 3, 3, 100, { priority: 1 }),
    ],
  },
  {
    name: 'moves a reservation that was planned behind a claim whose victim leaves late',
    nodes: 3,
    queues: {
      a: queue(100, { cohort: null }),
      b: queue(8, { reclaim: true }),
      c: queue(4),
    },
    jobs: [
      job('c', 2, 4, 3000, { leaves: 90, grace: 10 }),
      job('b', 2, 4, 100, { gap: 7 }),
      job('a', 3, 3, 100, { priority: 1 }),
    ],
  },
  {
    name: 'moves a claim that was planned behind another one whose victims leave late',
    nodes: 3,
    queues: {
      a: queue(2, { preempts: true }),
      b: queue(5),
      c: queue(10, { reclaim: true }),
    },
    jobs: [
      job('c', 2, 3, 600, { preemptible: true, leaves: 110 }),
      job('a', 2, 2, 3000),
      job('b', 1, 1, 100),
      job('a', 1, 1, 600),
      job('b', 1, 2, 100, { gap: 41 }),
      job('a', 2, 1, 600, { priority: 1 }),
      job('b', 1, 1, 100),
      job('b', 1, 3, 600, { gap: 68, priority: 1, leaves: 200, grace: 120 }),
      job('c', 2, 4, 100, { gap: 95 }),
    ],
  },
  {
    name: 'keeps a claim whose victim leaves late, though its queue has started others meanwhile',
    nodes: 8,
    queues: {
      a: queue(3, { policy: 'conservative' }),
      b: queue(100, { cohort: null }),
      c: queue(11, { reclaim: true }),
    },
    jobs: [
      job('a', 3, 2, 600, { leaves: 120, grace: 120 }),
      job('a', 2, 4, 3000, { priority: 1, leaves: 80, grace: 0 }),
      job('c', 1, 3, 100, { gap: 1 }),
      job('c', 1, 1, 100, { gap: 49 }),
      job('c', 2, 4, 100, { gap: 41 }),
      job('a', 2, 3, 3000, { gap: 42, priority: 1 }),
      job('c', 1, 3, 100, { gap: 89 }),
      job('c', 1, 1, 100, { gap: 1 }),
    ],
  },
  {
    name: 'gives the place of a claim to its own queue only for a start that is no later',
    nodes: 8,
    queues: {
      a: queue(10),
      b: queue(6, { reclaim: true, preempts: true }),
      c: queue(12),
    },
    jobs: [
      job('c', 2, 2, 600),
      job('c', 1, 1, 100),
      job('b', 2, 4, 3000, { preemptible: true }),
      job('c', 3, 4, 3000),
      job('c', 3, 3, 100, { priority: -1 }),
      job('b', 2, 2, 100, { priority: -1 }),
      job('c', 2, 2, 3000, { gap: 1 }),
      job('a', 2, 1, 3000),
      job('b', 3, 2, 100, { priority: 1 }),
      job('a', 1, 1, 100, { runs: 10 }),
      job('a', 1, 2, 100),
      job('b', 3, 3, 3000),
    ],
  },
  {
    name: 'evicts nobody for a workload behind the head of a fcfs queue that keeps its reservation',
    nodes: 8,
    queues: {
      a: queue(10, { policy: 'fcfs', reclaim: true }),
      b: queue(8),
      c: queue(12, { policy: 'conservative', borrowing: { cores: 6 } }),
    },
    jobs: [
      job('a', 2, 4, 20),
      job('a', 2, 4, 600, { runs: 300 }),
      job('b', 1, 2, 600),
      job('c', 3, 2, 3000, { gap: 41, priority: 1 }),
      job('c', 2, 4, 3000, { priority: 1 }),
      job('c', 3, 2, 100),
      job('a', 2, 3, 3000),
      job('b', 1, 4, 600),
      job('c', 3, 4, 100, { priority: 1 }),
      job('a', 2, 4, 100),
      job('b', 2, 3, 100, { priority: 1 }),
      job('b', 1, 1, 3000),
    ],
  },
  {
    name: 'evicts no workload that is past its end',
    nodes: 8,
    queues: {
      a: queue(5),
      b: queue(100, { cohort: null }),
      c: queue(9, { reclaim: true }),
    },
    jobs: [
      job('c', 1, 1, 3000),
      job('c', 1, 1, 3000, { priority: -1 }),
      job('c', 1, 1, 3000),
      job('c', 1, 1, 100),
      job('a', 3, 4, 100, { leaves: 110, runs: 3000 }),
      job('c', 3, 4, 100),
    ],
  },
  {
    name: 'calls an eviction in a cohort a preemption where the queue does not reclaim',
    nodes: 3,
    queues: {
      a: queue(3),
      b: queue(6, { preempts: true }),
      c: queue(3),
    },
    jobs: [
      job('a', 3, 1, 3000, { priority: -1, preemptible: true }),
      job('a', 2, 2, 600),
      job('b', 1, 3, 100, { priority: -1, preemptible: true }),
      job('a', 3, 2, 100, { gap: 1, priority: 1 }),
      job('a', 1, 3, 100, { priority: 1 }),
      job('b', 2, 2, 100),
      job('b', 1, 3, 100, { priority: 1 }),
    ],
  },
  {
    name: 'evicts nobody of a queue within its own quota',
    nodes: 3,
    queues: {
      a: queue(3, { reclaim: true }),
      b: queue(3),
      c: queue(100, { lending: { cores: 3 } }),
    },
    jobs: [
      job('c', 1, 2, 3000),
      job('a', 2, 2, 100),
      job('b', 3, 1, 3000, { priority: 1 }),
      job('b', 1, 3, 100),
      job('b', 1, 1, 100, { gap: 70 }),
      job('a', 1, 3, 100),
    ],
  },
  {
    name: 'keeps what a reclaim returns from its victim, though the queue of the owner had a reservation left',
    nodes: 3,
    queues: {
      a: queue(6, { reclaim: true }),
      b: queue(100, { cohort: null }),
      c: queue(2),
    },
    jobs: [
      job('c', 1, 4, 600, { leaves: 60, grace: 60 }),
      job('a', 2, 3, 100, { gap: 40 }),
      job('c', 1, 4, 100, { gap: 40, priority: 1, leaves: 1, grace: 0 }),
      job('b', 3, 2, 100),
      job('a', 3, 3, 100, { gap: 48 }),
      job('a', 1, 2, 100, { gap: 40 }),
      job('a', 1, 3, 20, { gap: 49 }),
      job('a', 1, 1, 100, { gap: 42 }),
    ],
  },
  {
    name: 'takes back no more for a workload than its queue has left beside the claims before it',
    nodes: 8,
    queues: {
      a: queue(3, { preempts: true }),
      b: queue(4),
      c: queue(8, { reclaim: true }),
    },
    jobs: [
      job('c', 1, 1, 600),
      job('a', 1, 2, 600, { priority: 1 }),
      job('c', 1, 2, 100),
      job('b', 2, 3, 600, { preemptible: true, leaves: 200, grace: 120 }),
      job('a', 3, 1, 600, { priority: 1 }),
      job('a', 1, 2, 100, { gap: 7, priority: 1 }),
      job('b', 1, 1, 600, { gap: 40 }),
      job('c', 1, 4, 100),
      job('a', 1, 1, 100, { priority: 1, leaves: 10, grace: 10 }),
      job('c', 1, 4, 100, { gap: 40, priority: 1 }),
    ],
  },
  {
    name: 'takes back no more for a workload than its queue has left beside a claim that starts later',
    nodes: 8,
    queues: {
      a: queue(3),
      b: queue(12, { reclaim: true }),
      c: queue(4),
    },
    jobs: [
      job('c', 1, 3, 600),
      job('c', 1, 2, 600, { leaves: 120, grace: 120 }),
      job('a', 1, 4, 600, { leaves: 90, grace: 10 }),
      job('b', 1, 4, 600),
      job('b', 3, 3, 100),
      job('a', 1, 4, 600, { priority: 1 }),
      job('b', 1, 3, 100),
      job('b', 3, 2, 100),
      job('b', 1, 3, 100, { gap: 7 }),
    ],
  },
  {
    name: 'plans a claim of higher priority again that was planned behind one whose victims leave late',
    nodes: 8,
    queues: {
      a: queue(3),
      b: queue(12, { policy: 'hybrid', lending: { cores: 6 }, reclaim: true }),
      c: queue(4, { policy: 'conservative' }),
    },
    jobs: [
      job('c', 1, 3, 3000),
      job('c', 1, 2, 600, { leaves: 120, grace: 120 }),
      job('a', 2, 4, 3000, { leaves: 90, grace: 10 }),
      job('c', 1, 2, 20),
      job('b', 1, 4, 3000),
      job('a', 1, 4, 100),
      job('b', 3, 4, 100, { gap: 7 }),
      job('b', 1, 3, 3000),
      job('b', 3, 2, 20, { priority: -1 }),
      job('b', 1, 4, 600, { gap: 7 }),
      job('c', 1, 2, 100),
      job('b', 1, 1, 100, { gap: 47 }),
    ],
  },
];
