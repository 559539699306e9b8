/** Jobs whose template has scheduling gates. */
import { GANG_SIZE, GATE, HOLD, QUEUE, USER_ANNOTATION, WALLTIME } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { type Entry, entry, type Fields, held, job, noted, owner, suspended } from './corpus-objects';

const FOREIGN = { name: 'example.com/staged' };
const OWN = { name: GATE };

function gatedBy(
  schedulingGates: readonly { readonly name: string }[],
  spec: Fields = {},
  metadata: Fields = {},
  templateMetadata?: Fields,
): KubeObject {
  const made = job(spec, metadata);
  const { template } = made.spec as { readonly template: { readonly spec: Fields } };
  const more = templateMetadata === undefined ? {} : { metadata: templateMetadata };
  return {
    ...made,
    spec: { ...spec, template: { ...more, spec: { ...template.spec, schedulingGates } } },
  };
}

const another = { annotations: { [USER_ANNOTATION]: 'another-user', note: 'x' } };
const JOBSET = { ownerReferences: [owner('jobset.x-k8s.io/v1alpha2', 'JobSet')] };
const GANG = { completionMode: 'Indexed', completions: 2, parallelism: 2 };

export const GATE_ENTRIES: readonly Entry[] = [
  entry('a gate of another controller', gatedBy([FOREIGN]), noted),
  entry('a gate of another controller, suspended', gatedBy([FOREIGN], { suspend: true }), noted),
  entry('gates of another controller and of the queue', gatedBy([OWN, FOREIGN]), noted),
  entry('a gate of another controller, and a user', gatedBy([FOREIGN], {}, {}, another), noted),
  entry(
    'a gate of another controller, with settings',
    gatedBy([FOREIGN], {}, { labels: { [QUEUE]: 'a', [WALLTIME]: '60' }, annotations: { [WALLTIME]: '2h' } }),
    { is: 'noted', settings: { [QUEUE]: 'a', [WALLTIME]: '2h' } },
  ),
  entry('a gate of another controller, with a deadline', gatedBy([FOREIGN], { activeDeadlineSeconds: 900 }), {
    is: 'noted',
    settings: { [WALLTIME]: '900' },
  }),
  entry(
    'a gate of another controller, with a deadline, of a controller',
    gatedBy([FOREIGN], { activeDeadlineSeconds: 900 }, {}, { labels: { a: 'b' } }),
    { is: 'noted', settings: { [WALLTIME]: '900' } },
    'system:kube-controller-manager',
  ),
  entry(
    'a gate of another controller, with a walltime that is none',
    gatedBy([FOREIGN], {}, { labels: { [WALLTIME]: 'soon' } }),
    { is: 'denied', code: 'FLUXQ_SETTING_INVALID', field: `metadata.labels["${WALLTIME}"]` },
  ),
  entry('the gate of the queue alone', gatedBy([OWN]), suspended),
  entry('no gate', gatedBy([]), suspended),
  entry(
    'a gate of another controller in a gang by its label',
    gatedBy([FOREIGN], GANG, { labels: { [GANG_SIZE]: '2' } }),
    suspended,
  ),
  entry(
    'a gate of another controller in a gang by its annotation',
    gatedBy([FOREIGN], GANG, { annotations: { [GANG_SIZE]: '2' } }),
    suspended,
  ),
  entry(
    'a gate of another controller, and a hold',
    gatedBy([FOREIGN], {}, { labels: { [HOLD]: 'true' } }),
    held,
  ),
  entry('a gate of another controller in a Job of a JobSet', gatedBy([FOREIGN], {}, JOBSET), suspended),
];
