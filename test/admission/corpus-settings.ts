/** Entries of the corpus: valid and invalid settings in labels and annotations. */
import type { KubeObject } from '../cluster/api';
import type { Entry, ExpectedOutcome } from './corpus-objects';

type Make = (spec?: Record<string, unknown>, metadata?: Record<string, unknown>) => KubeObject;

function names(count: number): string {
  return Array.from({ length: count }, (_, i) => `n${i}`).join(',');
}

const INVALID: readonly (readonly [setting: string, value: string])[] = [
  ['queue', ''],
  ['queue', 'Batch'],
  ['queue', 'a.b'],
  ['queue', 'q'.repeat(64)],
  ['priority', 'high'],
  ['priority', '1.5'],
  ['priority', '2147483648'],
  ['priority', '-2147483649'],
  ['walltime', 'soon'],
  ['checkpoint-interval', 'soon'],
  ['walltime', '0'],
  ['checkpoint-interval', '0'],
  ['walltime', '0h0m'],
  ['walltime', '-5m'],
  ['walltime', '1h30'],
  ['walltime', '90 m'],
  ['walltime', 'Infinity'],
  ['walltime', '1e3'],
  ['walltime', '1 hour'],
  ['walltime', '1-'],
  ['walltime', '1:2:3:4'],
  ['walltime', '0-0:0:0'],
  ['walltime', '596524:00:00'],
  ['walltime', '24856d'],
  ['walltime', '10000000h'],
  ['walltime', '2147483648'],
  ['checkpoint-interval', '2147483648'],
  ['walltime', '999999999999999999999h'],
  ['walltime', `5m\n"${'x'.repeat(200)}`],
  ['hold', 'yes'],
  ['hold', 'True'],
  ['exclusive', '1'],
  ['after', ''],
  ['after', 'a,,b'],
  ['after', 'Upper'],
  ['after', 'afterwards:prepare'],
  ['after', 'afterok:'],
  ['after', 'afterok: prepare'],
  ['after', 'prepare:afterok'],
  ['after', names(101)],
  ['preemptible', 'maybe'],
  ['gang-size', 'x'],
  ['gang-size', '0'],
  ['gang-size', '1.5'],
  ['group', 'ring'],
  ['group-size', '4'],
  ['group', 'Ring'],
  ['group', 'r'.repeat(64)],
  ['group-size', '0'],
  ['group-size', '10001'],
  ['group-size', 'many'],
];

const VALID: readonly (readonly [setting: string, value: string])[] = [
  ['queue', 'team-a'],
  ['priority', '2147483647'],
  ['priority', '-2147483648'],
  ['priority', '007'],
  ['walltime', '1h30m'],
  ['checkpoint-interval', '1h30m'],
  ['walltime', '5400'],
  ['walltime', '.5'],
  ['walltime', '1.5h'],
  ['walltime', '100ms'],
  ['walltime', '250µs'],
  ['walltime', '+2m'],
  ['walltime', '2d'],
  ['walltime', '1-12:00:00'],
  ['walltime', '1-0'],
  ['walltime', '01:30:00'],
  ['walltime', '90:00'],
  ['walltime', '596523:00:00'],
  ['walltime', '2147483647'],
  ['gang-size', '4'],
  ['after', 'prepare,fetch.data , load'],
  ['after', 'prepare, afterany:scan ,afternotok:probe,afterok:load'],
  ['after', 'afterok'],
  ['after', names(100)],
  ['preemptible', 'true'],
  ['hold', 'false'],
];

/** The apiserver itself rejects other label values; annotations can have any value. */
const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export const SETTING_ENTRIES = (job: Make, pod: Make): readonly Entry[] => [
  ...INVALID.map(([setting, value]) => invalidEntry(job, 'Job', 'annotations', setting, value)),
  ...INVALID.filter(([, value]) => LABEL.test(value)).map(([setting, value]) =>
    invalidEntry(pod, 'pod', 'labels', setting, value),
  ),
  ...VALID.map(([setting, value]) => validEntry(job, setting, value)),
  {
    title: 'a valid annotation that overrides an invalid label',
    object: job(
      {},
      { labels: { 'fluxqueue/walltime': 'soon' }, annotations: { 'fluxqueue/walltime': '5m' } },
    ),
    expectedOutcome: { is: 'suspended' },
  },
  {
    title: 'an invalid annotation that overrides a valid label',
    object: job(
      {},
      { labels: { 'fluxqueue/walltime': '5m' }, annotations: { 'fluxqueue/walltime': 'soon' } },
    ),
    expectedOutcome: denied('annotations', 'walltime'),
  },
  {
    title: 'a group of four pods',
    object: pod({}, { labels: { 'fluxqueue/group': 'ring' }, annotations: { 'fluxqueue/group-size': '4' } }),
    expectedOutcome: { is: 'gated' },
  },
  {
    title: 'a Job with both settings of a group',
    object: job({}, { labels: { 'fluxqueue/group': 'ring', 'fluxqueue/group-size': '4' } }),
    expectedOutcome: denied('labels', 'group'),
  },
  {
    title: 'a group and an invalid walltime',
    object: pod(
      {},
      {
        labels: { 'fluxqueue/group': 'ring', 'fluxqueue/group-size': '4' },
        annotations: { 'fluxqueue/walltime': 'soon' },
      },
    ),
    expectedOutcome: denied('annotations', 'walltime'),
  },
];

function invalidEntry(
  make: Make,
  kind: string,
  where: 'labels' | 'annotations',
  setting: string,
  value: string,
): Entry {
  return {
    title: `${kind} with ${setting} ${JSON.stringify(value.slice(0, 30))} in its ${where}`,
    object: make({}, { [where]: { [`fluxqueue/${setting}`]: value } }),
    expectedOutcome: denied(where, setting),
  };
}

function validEntry(make: Make, setting: string, value: string): Entry {
  return {
    title: `Job with ${setting} ${value.slice(0, 80)}`,
    object: make({}, { annotations: { [`fluxqueue/${setting}`]: value } }),
    expectedOutcome: { is: 'suspended' },
  };
}

function denied(where: 'labels' | 'annotations', setting: string): ExpectedOutcome {
  return { is: 'denied', code: 'FLUXQ_SETTING_INVALID', field: `metadata.${where}["fluxqueue/${setting}"]` };
}
