/**
 * Limits of the lists in a pod spec that every scheduling pass has to read. Admission (CEL and webhook) refuses more, and
 * the controller queues no workload that has more: one workload must not take the time of all others.
 */

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const TERMS = ['affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms'];

export interface PodLimit {
  /** Path of a list below the pod spec, then of the list in each of its entries, and so on. */
  readonly lists: readonly (readonly string[])[];
  readonly most: number;
  /** What the innermost list contains. */
  readonly noun: string;
}

export const POD_LIMITS: readonly PodLimit[] = [
  { lists: [TERMS], most: 50, noun: 'terms' },
  { lists: [TERMS, ['matchExpressions']], most: 200, noun: 'expressions in all terms' },
  { lists: [TERMS, ['matchExpressions'], ['values']], most: 400, noun: 'values in all terms' },
  { lists: [['affinity', 'podAffinity', REQUIRED]], most: 50, noun: 'terms' },
  { lists: [['affinity', 'podAntiAffinity', REQUIRED]], most: 50, noun: 'terms' },
  { lists: [['topologySpreadConstraints']], most: 50, noun: 'constraints' },
];

/** Bytes of what a jobspec says beside its units, as JSON: constraints on nodes and rules about other pods. */
export const MAX_JOBSPEC_BYTES = 32 * 1024;

export const POD_LIMIT_CODE = 'FLUXQ_TOO_LARGE';
export const POD_LIMIT_REMEDY = 'choose nodes by fewer labels';

export function podLimitField({ lists }: PodLimit): string {
  return lists[0]!.join('.');
}

export function podLimitProblem({ most, noun }: PodLimit): string {
  return `must have at most ${most} ${noun}`;
}

/** The first limit that a pod spec exceeds, and how much it has; undefined: none. */
export function exceededPodLimit(
  spec: unknown,
): { readonly limit: PodLimit; readonly count: number } | undefined {
  for (const limit of POD_LIMITS) {
    const count = countIn(spec, limit.lists);
    if (count > limit.most) return { limit, count };
  }
  return undefined;
}

function countIn(value: unknown, [path, ...inner]: PodLimit['lists']): number {
  const list = path!.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
  if (!Array.isArray(list)) return 0;
  return inner.length === 0 ? list.length : list.reduce((sum, entry) => sum + countIn(entry, inner), 0);
}
