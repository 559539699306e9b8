/** Entries of the corpus: keys of ours that nobody reads. */
import { type Entry, type Fields, gated, job, pod, suspended } from './corpus-objects';

const denied = (field: string) => ({ is: 'denied', code: 'FLUXQ_SETTING_INVALID', field }) as const;
const MAKERS = { job, pod };
const MISSPELLED = [
  'waltime',
  'wall-time',
  'prio',
  'que',
  'hodl',
  'exclusiv',
  'afterok',
  'x',
  'job-id',
  'Queue',
  'premptable',
];

export const KEY_ENTRIES: readonly Entry[] = [
  ...Object.entries(MAKERS).flatMap(([kind, make]) => [
    ...MISSPELLED.flatMap((name): Entry[] => {
      const key = `fluxqueue/${name}`;
      return (['labels', 'annotations'] as const).map((map) => ({
        title: `the unknown key ${key} in ${map}`,
        object: make({}, { [map]: { app: 'x', [key]: '1' } }),
        expectedOutcome: denied(`metadata.${map}["${key}"]`),
      }));
    }),
    {
      title: 'two unknown annotations and a label',
      object: make(
        {},
        { labels: { 'fluxqueue/a': '1' }, annotations: { 'fluxqueue/c': '1', 'fluxqueue/b': '1' } },
      ),
      expectedOutcome: denied('metadata.annotations["fluxqueue/b"]'),
    },
    {
      title: 'keys with another prefix',
      object: make({}, { labels: { 'fluxqueue.example/waltime': '1' }, annotations: { fluxqueue: '1' } }),
      expectedOutcome: kind === 'job' ? suspended : gated,
    },
  ]),
  ...(['labels', 'annotations'] as const).flatMap((map): Entry[] =>
    ['fluxqueue/queue', 'fluxqueue/waltime', 'fluxqueue/user'].map((key) => ({
      title: `${key} in the ${map} of its template`,
      object: job({}, { labels: { app: 'x' } }, { metadata: { [map]: { [key]: 'x' } } satisfies Fields }),
      expectedOutcome: denied(`spec.template.metadata.${map}["${key}"]`),
    })),
  ),
];
