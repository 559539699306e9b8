/** Attacks on groups of plain pods. */
import {
  DEADLINE_ANNOTATION,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import { type Act, type Attack, type CONTAINED, PLAIN, type Role, refusedTo } from './attack';
import { container, create, job, type Made, patch } from './objects';

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

/** The place of another's pod in a group would be its node, its units and its user. */
export const GROUP_ATTACKS: readonly Attack[] = [
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
