/** Entries of the corpus: Jobs. */
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { type Entry, entry, held, invalid, job, large, owner, suspended, untouched } from './objects';

export const JOB_ENTRIES: readonly Entry[] = [
  entry('a plain Job', job(), suspended),
  entry('suspend: false in so many words', job({ suspend: false }), suspended),
  entry('suspended by its user', job({ suspend: true }), held),
  entry('suspended by its user, with labels', job({ suspend: true }, { labels: { app: 'x' } }), held),
  entry(
    'suspended, but hold "false" as label',
    job({ suspend: true }, { labels: { [HOLD]: 'false' } }),
    suspended,
  ),
  entry(
    'suspended, but hold "false" as annotation',
    job({ suspend: true }, { annotations: { [HOLD]: 'false' } }),
    suspended,
  ),
  entry('hold "true" and not suspended', job({}, { labels: { [HOLD]: 'true' } }), held),
  entry(
    'a copy of a waiting Job',
    job({ suspend: true }, { labels: { [ADMITTED_LABEL]: 'true' } }),
    suspended,
  ),
  entry(
    'labelled "admitted: false" by its user',
    job({}, { labels: { [ADMITTED_LABEL]: 'false' } }),
    suspended,
  ),
  entry('labels of its own', job({}, { labels: { app: 'x', 'a/b': 'c~d'.replace('~', '.') } }), suspended),
  entry('empty labels', job({}, { labels: {} }), suspended),
  entry('an indexed Job', job({ completions: 4, parallelism: 4, completionMode: 'Indexed' }), suspended),
  entry('parallelism 0', job({ parallelism: 0 }), suspended),
  entry('the built-in managedBy', job({ managedBy: 'kubernetes.io/job-controller' }), suspended),
  entry('another managedBy', job({ managedBy: 'kueue.x-k8s.io/multikueue' }), untouched),
  entry("Kueue's label", job({}, { labels: { 'kueue.x-k8s.io/queue-name': 'team' } }), untouched),
  entry(
    "Kueue's label, suspended",
    job({ suspend: true }, { labels: { 'kueue.x-k8s.io/queue-name': 'q' } }),
    untouched,
  ),
  entry('200 kB of annotation', job({}, { annotations: { large } }), suspended),
  entry('a fixed name', job({}, { generateName: undefined, name: 'train' }), suspended),
  entry('owned by a CronJob', job({}, { ownerReferences: [owner('batch/v1', 'CronJob')] }), suspended),
  entry(
    'every setting there is',
    job(
      {},
      {
        labels: { 'fluxqueue/queue': 'batch', 'fluxqueue/priority': '10', 'fluxqueue/walltime': '90m' },
        annotations: {
          'fluxqueue/priority': '-5',
          'fluxqueue/after': 'prepare, fetch.data',
          'fluxqueue/exclusive': 'true',
        },
      },
    ),
    suspended,
  ),
  entry(
    'a template without containers',
    { ...job(), spec: { template: { spec: { restartPolicy: 'Never' } } } },
    invalid,
  ),
  entry('no template', { ...job(), spec: {} }, invalid),
];
