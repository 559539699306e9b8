/** How a simulated workload is, where it is not as most are. */
import type { PodSpec } from '../../../runtime/jobspec/pod';
import type { Submission } from '../../../runtime/queue/workload';

export interface SetOptions {
  readonly name: string;
  readonly pods: number;
  readonly cpu: number;
  readonly pod?: Partial<PodSpec>;
  readonly labels?: Readonly<Record<string, string>>;
}

type Given = 'kind' | 'namespace' | 'user' | 'after' | 'preemptible';
export interface JobOptions extends Partial<Pick<Submission, Given>> {
  readonly pods?: number;
  readonly cpu?: number;
  readonly walltime?: number;
  readonly exclusive?: boolean;
  /** Whether its pods do not need each other. @default false */
  readonly array?: boolean;
  readonly pod?: Partial<PodSpec>;
  /** Pod sets of a gang of several; `pods`, `cpu` and `pod` are none of its then. @default - one pod set */
  readonly sets?: readonly SetOptions[] | undefined;
  /** Labels of its pods. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly queue?: string;
  readonly submittedAt?: number;
  readonly held?: boolean;
  /** Seconds until it ends. @default - its walltime */
  readonly runs?: number;
  /** Seconds that its pods need to leave after an eviction. @default - a test requeues it itself */
  readonly leaves?: number;
}
