/** The parts of which the smallest traces of seeds that failed are made. */
import type { Scenario, Settings } from './eviction-traces';

export type FoundTrace = Scenario & { readonly name: string };

export function queue(cores: number, over: Partial<Settings> = {}): Settings {
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
export function job(
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
