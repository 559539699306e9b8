/** Entries of the corpus: values of the users' labels and annotations. */
import type { KubeObject } from '../cluster/api';
import type { Entry, ExpectedOutcome } from './corpus';

type Make = (spec?: Record<string, unknown>, metadata?: Record<string, unknown>) => KubeObject;

const WRONG: readonly (readonly [setting: string, value: string])[] = [
  ['queue', ''],
  ['queue', 'Batch'],
  ['queue', 'a.b'],
  ['queue', 'q'.repeat(64)],
  ['priority', 'high'],
  ['priority', '1.5'],
  ['priority', '2147483648'],
  ['priority', '-2147483649'],
  ['walltime', 'soon'],
  ['walltime', '0'],
  ['walltime', '0h0m'],
  ['walltime', '-5m'],
  ['walltime', '1h30'],
  ['walltime', '90 m'],
  ['walltime', 'Infinity'],
  ['walltime', '1e3'],
  ['walltime', '10000000h'],
  ['walltime', '2147483648'],
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
  ['preemptible', 'maybe'],
  ['group', 'ring'],
  ['group-size', '4'],
];

const RIGHT: readonly (readonly [setting: string, value: string])[] = [
  ['queue', 'team-a'],
  ['priority', '2147483647'],
  ['priority', '-2147483648'],
  ['priority', '007'],
  ['walltime', '1h30m'],
  ['walltime', '5400'],
  ['walltime', '.5'],
  ['walltime', '1.5h'],
  ['walltime', '100ms'],
  ['walltime', '250µs'],
  ['walltime', '+2m'],
  ['walltime', '2147483647'],
  ['after', 'prepare,fetch.data , load'],
  ['after', 'prepare, afterany:scan ,afternotok:probe,afterok:load'],
  ['after', 'afterok'],
  ['preemptible', 'true'],
  ['hold', 'false'],
];

/** Labels hold fewer characters than annotations; the apiserver itself refuses the rest. */
const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export const SETTING_ENTRIES = (job: Make, pod: Make): readonly Entry[] => [
  ...WRONG.map(([setting, value]) => wrong(job, 'Job', 'annotations', setting, value)),
  ...WRONG.filter(([, value]) => LABEL.test(value)).map(([setting, value]) =>
    wrong(pod, 'pod', 'labels', setting, value),
  ),
  ...RIGHT.map(([setting, value]) => right(job, setting, value)),
  {
    title: 'a right annotation wins over a wrong label',
    object: job(
      {},
      { labels: { 'fluxqueue/walltime': 'soon' }, annotations: { 'fluxqueue/walltime': '5m' } },
    ),
    expectedOutcome: { is: 'suspended' },
  },
  {
    title: 'a wrong annotation wins over a right label',
    object: job(
      {},
      { labels: { 'fluxqueue/walltime': '5m' }, annotations: { 'fluxqueue/walltime': 'soon' } },
    ),
    expectedOutcome: denied('annotations', 'walltime'),
  },
  {
    title: 'a gang of plain pods beside a wrong walltime',
    object: pod(
      {},
      {
        labels: { 'fluxqueue/group': 'ring', 'fluxqueue/group-size': '4' },
        annotations: { 'fluxqueue/walltime': 'soon' },
      },
    ),
    expectedOutcome: denied('labels', 'group'),
  },
];

function wrong(
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

function right(make: Make, setting: string, value: string): Entry {
  return {
    title: `Job with ${setting} ${value}`,
    object: make({}, { annotations: { [`fluxqueue/${setting}`]: value } }),
    expectedOutcome: { is: 'suspended' },
  };
}

function denied(where: 'labels' | 'annotations', setting: string): ExpectedOutcome {
  return { is: 'denied', code: 'FLUXQ_SETTING_INVALID', field: `metadata.${where}["fluxqueue/${setting}"]` };
}
