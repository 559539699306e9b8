/** Attacks on groups of plain pods. */
import {
  DEADLINE_ANNOTATION,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import {
  LWS_NAME_LABEL,
  LWS_SIZE_ANNOTATION,
  LWS_WORKER_LABEL,
} from '../../constructs/api/leader-worker-set';
import { type Act, ALPHA, type Attack, type CONTAINED, PLAIN, type Role, refusedTo } from './attack';
import { container, create, job, type Made, patch, pathTo, template } from './objects';

const UID = '6f1d2a0e-0000-4000-8000-000000000001';

const RESERVED = 'FLUXQ_RESERVED';
const by = refusedTo('controller token');
const as =
  (role: Role) =>
  (name: string, act: Act, refused: string): Attack => ({ name, role, act, holds: { refused } });
const editor = as('editor');
const contained = (role: Role, name: string, act: Act, what: keyof typeof CONTAINED): Attack => ({
  name,
  role,
  act,
  holds: { contained: what },
});
const pod = (spec: object, metadata: object): Act =>
  create('Pod', 'x', { metadata, spec: { containers: [container()], ...spec } });
const newJob = (more: Made): Act => create('Job', 'x', { spec: job(), ...more });
const annotated = (key: string, value: string) => ({ metadata: { annotations: { [key]: value } } });

/** What the controller of a LeaderWorkerSet `serve` gives the first worker of its first leader. */
const OF_A_WORKER = {
  labels: { [LWS_NAME_LABEL]: 'serve', [LWS_WORKER_LABEL]: '1' },
  annotations: { [LWS_SIZE_ANNOTATION]: '2' },
};
const ownedBySet = {
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'serve-0', uid: UID, controller: true },
  ],
};

/** The labels of a LeaderWorkerSet name a group only in pods that a StatefulSet makes, and those of the StatefulSet of a person are that person's. */
const LEADER_WORKER_ATTACKS: readonly Attack[] = [
  ...(['editor', 'pod creator', 'account'] as const).flatMap((role) => [
    contained(
      role,
      'a Pod that looks like a worker of a LeaderWorkerSet',
      pod({}, OF_A_WORKER),
      'the Pod is gated, in no group',
    ),
    contained(
      role,
      'a Pod that looks like a worker, with the StatefulSet of the workers as its owner',
      pod({}, { ...OF_A_WORKER, ...ownedBySet }),
      'the Pod is gated, in no group',
    ),
    contained(
      role,
      'a Pod that looks like a leader',
      pod({}, { ...OF_A_WORKER, labels: { ...OF_A_WORKER.labels, [LWS_WORKER_LABEL]: '0' }, ...ownedBySet }),
      'the Pod is gated, in no group',
    ),
  ]),
  {
    ...contained(
      'editor',
      'a StatefulSet that looks like that of the workers of a LeaderWorkerSet',
      create('StatefulSet', 'forged', {
        spec: {
          serviceName: 'forged',
          selector: { matchLabels: { app: 'x' } },
          template: template({}, { ...OF_A_WORKER, labels: { ...OF_A_WORKER.labels, app: 'x' } }),
        },
      }),
      'the user is mallory',
    ),
    outcome: pathTo('Pod', ALPHA, 'forged-0'),
  },
];

/** The place of another's pod in a group would be its node, its units and its user. */
export const GROUP_ATTACKS: readonly Attack[] = [
  ...LEADER_WORKER_ATTACKS,
  ...(['editor', 'pod creator'] as const).flatMap((role) => [
    as(role)(
      'a Pod that claims a place in a group',
      pod(
        {},
        {
          labels: { [GROUP]: 'g' },
          annotations: { [GROUP_SIZE]: '1', [GROUP_MEMBER_ANNOTATION]: 'group-x/pods-y' },
        },
      ),
      RESERVED,
    ),
    as(role)(
      'a Pod that notes a deadline of its own as granted',
      pod({ activeDeadlineSeconds: 3_660 }, { annotations: { [DEADLINE_ANNOTATION]: '60+3600/864000' } }),
      RESERVED,
    ),
    as(role)(
      'a gated Pod that notes a deadline of its own as granted',
      patch('Pod', 'gated', annotated(DEADLINE_ANNOTATION, '60+3600/864000')),
      RESERVED,
    ),
    as(role)(
      'a gated Pod that claims a place in a group',
      patch('Pod', 'gated', annotated(GROUP_MEMBER_ANNOTATION, 'group-x/pods-y')),
      RESERVED,
    ),
    as(role)(
      'a Pod of a group with the job id of another grant',
      pod({}, { labels: { [GROUP]: 'g' }, annotations: { [GROUP_SIZE]: '1', [JOBID_ANNOTATION]: '1' } }),
      RESERVED,
    ),
  ]),
  contained(
    'pod creator',
    'a Pod of a complete group without the gate',
    pod({}, { labels: { [GROUP]: 'g' }, annotations: { [GROUP_SIZE]: '1' } }),
    'the Pod is gated',
  ),
  editor(
    'a Job in a group',
    newJob({ metadata: { labels: { [GROUP]: 'g' }, annotations: { [GROUP_SIZE]: '2' } } }),
    'FLUXQ_SETTING_INVALID',
  ),
  by(
    'a place in a group for a Pod that stays gated',
    patch('Pod', 'gated', { metadata: { annotations: { [GROUP_MEMBER_ANNOTATION]: 'group-x/pods-y' } } }),
    RESERVED,
  ),
  by(
    'another annotation of a Pod with the note of its deadline',
    patch('Pod', 'gated', { metadata: { annotations: { [DEADLINE_ANNOTATION]: '60/none', mine: 'x' } } }),
    RESERVED,
  ),
  by(
    'the note of a deadline for a Pod outside the queue',
    patch('Pod', 'free', annotated(DEADLINE_ANNOTATION, '60/none'), PLAIN),
    RESERVED,
  ),
  by(
    'a place in a group for a Pod outside the queue',
    patch(
      'Pod',
      'free',
      { metadata: { annotations: { [GROUP_MEMBER_ANNOTATION]: 'group-x/pods-y' } } },
      PLAIN,
    ),
    RESERVED,
  ),
];
