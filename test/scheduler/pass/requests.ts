/** Jobspecs of simulated workloads. To make one takes longer than a small pass, so plain ones are made once. */
import { jobspecOf, shapeOf } from '../../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { gangOf, type SetJobspec } from '../../../runtime/jobspec/pod-sets';
import type { NewSubmission, Submission } from '../../../runtime/queue/workload';
import type { JobOptions, SetOptions } from './job-options';

/** Of a gang of several pod sets. */
function gangRequest(
  sets: readonly SetOptions[],
  { walltime, exclusive }: Pick<Wanted, 'walltime' | 'exclusive'>,
): Request {
  const jobspecs = sets.map(({ name, pods, cpu, pod, labels = {} }): SetJobspec => {
    const wanted = { pods, cpu, walltime, exclusive, array: false, pod, labels };
    return { name, traits: { namespace: 'science', labels }, jobspec: make(wanted).jobspec };
  });
  const jobspec = gangOf(jobspecs as [SetJobspec, ...SetJobspec[]]);
  return { jobspec, shape: shapeOf(jobspec) };
}

type Request = Pick<Submission, 'jobspec' | 'shape'>;

interface Wanted {
  readonly pods: number;
  readonly cpu: number;
  readonly walltime: number;
  readonly exclusive: boolean;
  readonly array: boolean;
  readonly pod: Partial<PodSpec> | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

const plain = new Map<string, Request>();

export function requestOf(wanted: Wanted): Request {
  if (wanted.pod !== undefined || Object.keys(wanted.labels).length > 0) return make(wanted);
  const { pods, cpu, walltime, exclusive, array } = wanted;
  const key = [pods, cpu, walltime, exclusive, array].join(' ');
  const known = plain.get(key) ?? make(wanted);
  plain.set(key, known);
  return known;
}

function make({ pods, cpu, walltime, exclusive, array, pod: over, labels }: Wanted): Request {
  const pod = { containers: [{ resources: { requests: { cpu } } }], ...over };
  const jobspec = jobspecOf({
    pod,
    pods,
    walltime,
    exclusive,
    array,
    self: { namespace: 'science', labels },
  });
  return { jobspec, shape: shapeOf(jobspec) };
}

/** What the user of a simulated workload submits. */
export function submissionOf(
  uid: string,
  options: JobOptions & { readonly submittedAt: number },
): NewSubmission {
  const { pods = 1, cpu = 1, walltime = 100, exclusive = false, submittedAt } = options;
  const { pod, labels = {}, array = false, sets } = options;
  const request =
    sets === undefined
      ? requestOf({ pods, cpu, walltime, exclusive, array, pod, labels })
      : gangRequest(sets, { walltime, exclusive });
  return {
    uid,
    kind: options.kind ?? 'Job',
    namespace: options.namespace ?? 'science',
    name: uid,
    queue: options.queue ?? 'default',
    priority: options.priority ?? 0,
    submittedAt,
    walltime,
    pods: sets?.reduce((sum, set) => sum + set.pods, 0) ?? pods,
    ...request,
    held: options.held ?? false,
    user: options.user ?? 'ada',
    after: options.after ?? [],
    preemptible: options.preemptible ?? false,
  };
}
