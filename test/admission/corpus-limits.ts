/** Entries of the corpus: pod specs at the limits of constructs/api/pod-limits.ts, and one beyond. */
import { CONTAINER, type Entry, entry, type Fields, gated, pod, suspended } from './corpus-objects';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const exists = (i: number) => ({ key: `k${i}`, operator: 'Exists' });
const oneOf = (count: number) => ({ key: 'k', operator: 'In', values: times(count, (i) => `v${i}`) });
const terms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } },
});
const near = (kind: string, count: number) => ({
  affinity: { [kind]: { [REQUIRED]: times(count, (i) => ({ topologyKey: `k${i}`, labelSelector: {} })) } },
});
const spread = (count: number) => ({
  topologySpreadConstraints: times(count, (i) => ({
    topologyKey: `k${i}`,
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
  })),
});
const selector = `affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;

const CASES: readonly (readonly [title: string, spec: Fields, field?: string])[] = [
  ['50 node selector terms', terms(...times(50, (i) => ({ matchExpressions: [exists(i)] })))],
  ['51 node selector terms', terms(...times(51, (i) => ({ matchExpressions: [exists(i)] }))), selector],
  ['200 expressions', terms(...times(2, () => ({ matchExpressions: times(100, exists) })))],
  ['201 expressions', terms({ matchExpressions: times(201, exists) }), selector],
  ['400 values', terms({ matchExpressions: [oneOf(200), oneOf(200)] })],
  [
    '401 values',
    terms({ matchExpressions: [oneOf(200)] }, { matchExpressions: [exists(0), oneOf(201)] }),
    selector,
  ],
  ['terms by name', terms({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] })],
  ['50 affinity terms', near('podAffinity', 50)],
  ['51 affinity terms', near('podAffinity', 51), `affinity.podAffinity.${REQUIRED}`],
  ['51 anti-affinity terms', near('podAntiAffinity', 51), `affinity.podAntiAffinity.${REQUIRED}`],
  ['50 spread constraints', spread(50)],
  ['51 spread constraints', spread(51), 'topologySpreadConstraints'],
];

export const LIMIT_ENTRIES: readonly Entry[] = CASES.flatMap(([title, spec, field]) => [
  entry(title, jobOf(spec), field === undefined ? suspended : tooLarge(`spec.template.spec.${field}`)),
  entry(title, pod(spec), field === undefined ? gated : tooLarge(`spec.${field}`)),
]);

function jobOf(spec: Fields) {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'job-' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [CONTAINER], ...spec } } },
  };
}

function tooLarge(field: string) {
  return { is: 'denied', code: 'FLUXQ_TOO_LARGE', field } as const;
}
