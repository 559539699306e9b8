/** Doors that Kubernetes leaves open: several changes in one request, subresources, an older resource, and classes of the system. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, PLAIN, type Role } from './attack';
import { container, create, job, patch } from './objects';

const by = (role: Role, name: string, act: Act, holds: Attack['holds']): Attack => ({
  name,
  role,
  act,
  holds,
});
const RESERVED = { refused: 'FLUXQ_RESERVED' };
const ROOT = { metadata: { annotations: { [USER_ANNOTATION]: 'root' } } };
const sized = (cpu: string) => ({ containers: [container({ resources: { requests: { cpu } } })] });
const CRITICAL = { priorityClassName: 'system-node-critical' };
const change = (kind: string, name: string, subresource: string, body: object) =>
  patch(kind, name, body, ALPHA, subresource);

/** Kubernetes 1.37 lets all of it change in a Job that is suspended, 1.34 not the template. */
const AT_ONCE = { suspend: false, parallelism: 8, template: { spec: sized('8') } };

export const DOOR_ATTACKS: readonly Attack[] = [
  ...['waiting', 'paused'].map((name) =>
    by(
      'editor',
      `the start of the Job ${name}, with more pods and larger ones`,
      patch('Job', name, { spec: AT_ONCE }),
      { refused: 'field is immutable', contained: 'the Job is suspended' },
    ),
  ),
  ...(
    [
      ['Pod', { spec: { ...CRITICAL, containers: [container()] } }],
      ['Job', { spec: job(CRITICAL) }],
    ] as const
  ).map(([kind, made]) =>
    by('editor', `a ${kind} with the class of the system`, create(kind, 'x', made), {
      refused: 'FLUXQ_PRIORITY',
    }),
  ),
  by(
    'colleague',
    'another user by the status of a running Job',
    change('Job', 'running', 'status', ROOT),
    RESERVED,
  ),
  by(
    'colleague',
    'another user by the status of a running Pod',
    change('Pod', 'released', 'status', ROOT),
    RESERVED,
  ),
  by(
    'colleague',
    'the end of a Pod that runs, by its status',
    change('Pod', 'released', 'status', { status: { phase: 'Succeeded' } }),
    RESERVED,
  ),
  by(
    'colleague',
    'a Pod larger than its grant, in place',
    change('Pod', 'released', 'resize', {
      spec: { containers: [container({ resources: { requests: { cpu: '4', memory: '1Gi' } } })] },
    }),
    { refused: 'FLUXQ_RELEASED' },
  ),
  by(
    'scheduler token',
    'another user with the node of a Pod, by the older resource',
    {
      verb: 'POST',
      path: `/api/v1/namespaces/${PLAIN}/bindings`,
      body: {
        ...{ apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'node-0' } },
        metadata: { name: 'free', namespace: PLAIN, ...ROOT.metadata },
      },
    },
    RESERVED,
  ),
];
