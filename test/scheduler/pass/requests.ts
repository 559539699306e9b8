/** Jobspecs of simulated workloads. To make one takes longer than a small pass, so plain ones are made once. */
import { jobspecOf, shapeOf } from '../../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { gangOf, type SetJobspec } from '../../../runtime/jobspec/pod-sets';
import type { Submission } from '../../../runtime/queue/workload';
import type { SetOptions } from './job-options';

/** Of a gang of several pod sets. */
export function gangRequest(
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
