import { linesOf } from '../../runtime/cli/picture';
import { type TopKey, topPicture } from '../../runtime/cli/top';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { ended, fluxJob } from './fluxjobs';

function use(
  name: string,
  phase: string,
  spec: Partial<FluxJobObject['spec']>,
  nodes?: string,
): FluxJobObject {
  const made = fluxJob(name, { phase: phase as never, ...(nodes === undefined ? {} : { nodes }) });
  return { ...made, spec: { ...made.spec, ...spec } };
}

const jobspec = (requests?: object) => JSON.stringify({ attributes: { user: { requests } } });
const USERS = new Map([
  ['a', 'ada'],
  ['b', 'ada'],
  ['c', 'bob'],
  ['d', 'ada'],
]);
const FLUX_JOBS = [
  use('a', 'Running', { pods: 4, jobspec: jobspec({ cpu: '1500m' }) }, 'node-[1-2]'),
  use('b', 'Ready', { pods: 1, jobspec: jobspec({ cpu: '2', memory: '1Gi' }) }, 'node-2'),
  use('c', 'Running', { pods: 1, jobspec: jobspec({}), queue: 'wide' }, 'node-9,…'),
  use('d', 'Waiting', { pods: 3, jobspec: jobspec({ cpu: '1' }) }),
  use('e', 'Waiting', {}),
  ended,
];

const lines = (keys: readonly TopKey[], fluxJobs = FLUX_JOBS) => linesOf(topPicture(fluxJobs, USERS, keys));

test('what runs and waits is summed up by queue and user, those who use most first', () => {
  expect(lines(['queue', 'user'])).toEqual([
    'QUEUE    USER  RUNNING  NODES  PODS  CPU  WAITING  WAITING-PODS  WAITING-CPU',
    'default  ada   2        2      5     8    1        3             3',
    'wide     bob   1        1      1     0    0        0             0',
    // Nobody is known to have made it, and it asks for nothing that can be read.
    'default  -     0        0      0     0    1        0             0',
  ]);
  expect(lines(['namespace'])[1]).toBe('science    3        3      6     8    2        3             3');
});

test('CPU that a FluxJob of an earlier release does not tell is no number', () => {
  const old = use('old', 'Running', { pods: 1, jobspec: jobspec() }, 'node-1');
  expect(lines(['queue'], [...FLUX_JOBS, old])[1]).toMatch(/^default +3 +2 +6 +\? /);
});
