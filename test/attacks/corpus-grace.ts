/** Attempts to run on beyond a walltime, or beside one's own replacement, by a grace period, or by none. */
import { KUEUE_QUEUE_LABEL } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack } from './attack';
import { container, create, deployment, job, patch, pathTo, template } from './objects';

const DAYS = { terminationGracePeriodSeconds: 1_000_000 };
const attack = (name: string, act: Act, refused = 'FLUXQ_GRACE_PERIOD'): Attack => ({
  name,
  role: 'editor',
  act,
  holds: { refused },
});
const MIRROR = { 'kubernetes.io/config.mirror': 'x' };
const PROBE = { exec: { command: ['false'] }, ...DAYS };
const labels = { app: 'x' };
const cluster = (spec: object): Act =>
  create('MiniCluster', 'x', { spec: { containers: [{ image: 'flux' }], ...spec } });
const gracePeriodSeconds = 1_000_000;
const byForce = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
const KUEUE = { [KUEUE_QUEUE_LABEL]: 'team' };

export const GRACE_ATTACKS: readonly Attack[] = [
  attack('a grace period of days in a Job', create('Job', 'x', { spec: job(DAYS) })),
  attack(
    'a grace period of days in a Job of Kueue',
    create('Job', 'x', { metadata: { labels: KUEUE }, spec: job(DAYS, { suspend: true }) }),
  ),
  attack(
    'a grace period of days in a Pod',
    create('Pod', 'x', { spec: { containers: [container()], ...DAYS } }),
  ),
  attack('a grace period of days in a Deployment', create('Deployment', 'x', { spec: deployment(DAYS) })),
  attack(
    'a grace period of days in its Deployment',
    patch('Deployment', 'mine', { spec: { template: { spec: DAYS } } }),
  ),
  attack(
    'a grace period of days in a StatefulSet',
    create('StatefulSet', 'x', {
      spec: { serviceName: 'x', selector: { matchLabels: labels }, template: template(DAYS) },
    }),
  ),
  attack(
    'a grace period of days in a CronJob',
    create('CronJob', 'x', { spec: { schedule: '* * * * *', jobTemplate: { spec: job(DAYS) } } }),
  ),
  attack(
    'a grace period of days in a Job with the annotation of a static pod',
    create('Job', 'x', { metadata: { annotations: MIRROR }, spec: job(DAYS) }),
  ),
  attack(
    'days after a failed probe in a Pod',
    create('Pod', 'x', { spec: { containers: [container({ livenessProbe: PROBE })] } }),
  ),
  attack(
    'days after a failed probe in a Job',
    create('Job', 'x', { spec: job({ containers: [container({ startupProbe: PROBE })] }) }),
  ),
  attack(
    'days after a failed probe in a MiniCluster',
    create('MiniCluster', 'x', { spec: { containers: [{ image: 'flux', livenessProbe: PROBE }] } }),
  ),
  attack(
    'days after a failed probe in a service of a MiniCluster',
    cluster({ services: [{ name: 'beside', image: 'x', livenessProbe: PROBE }] }),
  ),
  attack('a grace period of days in a MiniCluster', cluster({ pod: DAYS })),
  attack('a grace period of days in its MiniCluster', patch('MiniCluster', 'tame', { spec: { pod: DAYS } })),
  attack('the deletion of Pods with a grace period of days', {
    verb: 'DELETE',
    path: pathTo('Pod', ALPHA),
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds },
  }),
  attack('the eviction of a Pod with a grace period of days', {
    verb: 'POST',
    path: pathTo('Pod', ALPHA, 'gated', 'eviction'),
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'gated', namespace: ALPHA },
      deleteOptions: { gracePeriodSeconds },
    },
  }),
  ...['granted', 'of-kueue'].flatMap((name) => [
    attack(`the deletion by force of the Pod ${name}`, {
      verb: 'DELETE',
      path: pathTo('Pod', ALPHA, name),
      body: byForce,
    }),
    attack(`the eviction by force of the Pod ${name}`, {
      verb: 'POST',
      path: pathTo('Pod', ALPHA, name, 'eviction'),
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: ALPHA },
        deleteOptions: byForce,
      },
    }),
  ]),
  attack('the deletion by force of all Pods', { verb: 'DELETE', path: pathTo('Pod', ALPHA), body: byForce }),
  attack('a MiniCluster whose Job is of Kueue', cluster({ jobLabels: KUEUE }), 'FLUXQ_OTHER_QUEUE'),
  attack(
    'the queue of Kueue for the Job of its MiniCluster',
    patch('MiniCluster', 'quiet', { spec: { jobLabels: KUEUE } }),
    'FLUXQ_OTHER_QUEUE',
  ),
];
