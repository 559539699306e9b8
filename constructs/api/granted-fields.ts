/**
 * Fields of a Job's spec that a grant is based on and that Kubernetes lets users change while the Job runs. From the
 * release on they can only become lower. Admission (CEL and webhook) puts a higher value back without an error, because
 * a manifest that is applied again has it; the guard refuses what admission did not see.
 */
export interface GrantedField {
  readonly field: 'parallelism' | 'activeDeadlineSeconds';
  /** Why a higher value is refused. */
  readonly problem: string;
  readonly remedy: string;
}

export const GRANTED_FIELDS: readonly GrantedField[] = [
  {
    field: 'parallelism',
    problem: 'cannot be increased after the queue started the Job',
    remedy: 'submit another Job',
  },
  {
    // Without it nothing would enforce the walltime.
    field: 'activeDeadlineSeconds',
    problem: 'cannot be increased or removed after the queue started the Job',
    remedy: 'submit another Job with a longer walltime',
  },
];
