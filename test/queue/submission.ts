import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { Jobspec } from '../../runtime/jobspec/types';
import type { Submission, SubmissionUpdate, WorkloadRow } from '../../runtime/queue/workload';
import type { Allocation } from '../../runtime/resources/types';

export function submission(uid: string, over: Partial<Submission> = {}): Submission {
  const pods = over.pods ?? 1;
  const walltime = over.walltime ?? 60;
  const jobspec = jobspecOf({ pod: { containers: [{}] }, pods: Math.max(1, pods), walltime });
  return {
    uid,
    kind: 'Job',
    namespace: 'science',
    name: `job-${uid}`,
    queue: 'default',
    priority: 0,
    submittedAt: 1_700_000_000.25,
    walltime,
    pods,
    jobspec,
    shape: shapeOf(jobspec),
    held: false,
    user: 'ada',
    after: [],
    preemptible: false,
    ...over,
  };
}

/** A jobspec with these notes. */
export function noting(notes: object): Jobspec {
  const { jobspec } = submission('x');
  const { attributes } = jobspec;
  return { ...jobspec, attributes: { ...attributes, user: { ...attributes.user, ...notes } } };
}

export function changed(row: WorkloadRow, over: Partial<SubmissionUpdate>): SubmissionUpdate {
  const { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible } = row;
  return { uid, queue, priority, walltime, pods, jobspec, shape, held, after, preemptible, ...over };
}

export function allocationOf({ jobid }: { jobid: number }, nodes = ['node-1']): Allocation {
  return { jobid, start: 100, end: 160, nodes: nodes.map((name) => ({ name, units: { core: '0' } })) };
}
