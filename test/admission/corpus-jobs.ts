/** Entries of the corpus: Jobs. */
import { ADMITTED_LABEL, HOLD } from '../../constructs/api/labels';
import { type Entry, entry, held, invalid, job, large, owner, suspended, untouched } from './objects';

export const JOB_ENTRIES: readonly Entry[] = [
  entry('a plain Job', job(), suspended),
  entry('an explicit suspend: false', job({ suspend: false }), suspended),
  entry('suspended by the user', job({ suspend: true }), held),
  entry('suspended by the user, with labels', job({ suspend: true }, { labels: { app: 'x' } }), held),
  entry(
    'suspended, with the label hold: "false"',
    job({ suspend: true }, { labels: { [HOLD]: 'false' } }),
    suspended,
  ),
  entry(
    'suspended, with the annotation hold: "false"',
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
    'the label admitted: "false" of the user',
    job({}, { labels: { [ADMITTED_LABEL]: 'false' } }),
    suspended,
  ),
  entry('other labels', job({}, { labels: { app: 'x', 'a/b': 'c~d'.replace('~', '.') } }), suspended),
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
    'every setting',
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
