/** Attacks on the node that a release writes into the template of a Job, by users and with the controller's token. */
import { ASSIGNMENT_ANNOTATION, PINNED_ANNOTATION } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, type Role } from './attack';
import { container, create, job, patch } from './objects';

const by = (role: Role, name: string, act: Act): Attack => ({
  role,
  name,
  act,
  holds: { refused: 'FLUXQ_RESERVED' },
});

const ON_NODE = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-0'] }] };
const ON_LINUX = { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] };
const onTerm = (term: object) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
});
const preferred = {
  nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: ON_LINUX }] },
};
/** Of the affinity of a template Kubernetes itself lets only that to nodes change. */
const affine = (name: string, affinity: object) =>
  patch('Job', name, { spec: { template: { spec: { affinity } } } });
const noted = { annotations: { [PINNED_ANNOTATION]: 'true' } };

export const PIN_ATTACKS: readonly Attack[] = [
  by('editor', 'a Job that says that it is pinned', create('Job', 'x', { spec: job({}, {}, noted) })),
  by(
    'editor',
    'a waiting Job that says that it is pinned',
    patch('Job', 'waiting', { spec: { template: { metadata: noted } } }),
  ),
  by(
    'editor',
    'a Pod that says that the template of its Job has its node',
    create(
      'Pod',
      'x',
      {
        metadata: { annotations: { ...noted.annotations, [ASSIGNMENT_ANNOTATION]: '0/1:node-0' } },
        spec: { containers: [container()], affinity: onTerm(ON_NODE) },
      },
      ALPHA,
    ),
  ),
  ...Object.entries({
    'preferred nodes': preferred,
    'nodes with a label': onTerm(ON_LINUX),
    'a node and a label': onTerm({ ...ON_NODE, ...ON_LINUX }),
  }).map(([what, affinity]) =>
    by('controller token', `a waiting Job that gets an affinity to ${what}`, affine('waiting', affinity)),
  ),
  by(
    'controller token',
    'a node in place of the affinity of the user of a waiting Job',
    affine('choosy', onTerm(ON_NODE)),
  ),
];
