/** Workloads that are changed while they run: other sizes, suspension, roll-outs, gates that are removed. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import type { KubeObject } from '../../cluster/api';
import { daemonSet, deployment, job, pod, replicaSet, type Shape, statefulSet } from '../../stack/manifests';
import type { Case, Outcome, Step } from '../case';

const NON_INDEXED = { completionMode: 'NonIndexed', completions: 40 };
const KEEPS_ITS_SIZE =
  'a Job that the queue started keeps the size of its grant (docs/edits.md); with fluxqueue/gang-size it may grow';
/** ReplicaSets go by the powers of two of the ages since readiness, then by the random uids; Jobs by seconds, then by any order. */
const ANY_MAY_STAY =
  'which of 16 pods, 4 on each node, stay is up to their controller: those that were ready first, and any of equal ones';
const ANY_PLACES = { nodes: ANY_MAY_STAY, zones: ANY_MAY_STAY };

type Make = (name: string, shape: Shape) => KubeObject;
type Kind = readonly [apiVersion: string, resource: string];
const JOBS: Kind = ['batch/v1', 'jobs'];
const DEPLOYMENTS: Kind = ['apps/v1', 'deployments'];
const SETS: Kind = ['apps/v1', 'statefulsets'];

const changed = (
  name: string,
  [make, shape]: readonly [Make, Shape],
  expected: Partial<Outcome>,
  [apiVersion, resource]: Kind,
  steps: readonly (readonly [spec: object, expected: Partial<Outcome>, labels?: Step['labels']])[],
): Case => ({
  name,
  manifests: () => [make(name, shape)],
  expected,
  steps: steps.map(([spec, after, labels]) => ({
    patch: [apiVersion, resource, name, { spec }],
    expected: after,
    ...(labels && { labels }),
  })),
});

/** All cores of the four nodes. */
const FULL = { running: 16, nodes: 4 };
const sized = (pods: number) => ({ parallelism: pods, completions: pods });

const ELASTIC: readonly Case[] = [
  changed('elastic-lower', [job, { pods: 3, spec: NON_INDEXED }], { running: 3 }, JOBS, [
    [{ parallelism: 1 }, { running: 1 }],
  ]),
  changed('elastic-indexed-lower', [job, { pods: 4 }], { running: 4 }, JOBS, [[sized(2), { running: 2 }]]),
  changed('elastic-lower-twice', [job, { pods: 4, spec: NON_INDEXED }], { running: 4 }, JOBS, [
    [{ parallelism: 3 }, { running: 3 }],
    [{ parallelism: 1 }, { running: 1 }],
  ]),
  {
    ...changed('elastic-higher', [job, { pods: 1, spec: NON_INDEXED }], { running: 1 }, JOBS, [
      [{ parallelism: 3 }, { running: 3 }],
    ]),
    explained: { running: KEEPS_ITS_SIZE },
  },
  {
    ...changed('elastic-indexed-higher', [job, { pods: 2 }], { running: 2 }, JOBS, [
      [sized(4), { running: 4 }],
    ]),
    explained: { running: KEEPS_ITS_SIZE },
  },
  changed('elastic-indexed-lower-ends', [job, { pods: 4, runs: '8s' }], { running: 4 }, JOBS, [
    [sized(2), { succeeded: 2 }],
  ]),
  {
    ...changed('elastic-wide-lower', [job, { pods: 20, spec: NON_INDEXED }], FULL, JOBS, [
      [{ parallelism: 2 }, { running: 2 }],
    ]),
    explained: ANY_PLACES,
  },
  changed('elastic-gang', [job, { pods: 2, annotations: { [GANG_SIZE]: '2' } }], { running: 2 }, JOBS, []),
  changed('suspended-later', [job, { pods: 2 }], { running: 2 }, JOBS, [[{ suspend: true }, {}]]),
  changed('resumed', [job, { pods: 2 }], { running: 2 }, JOBS, [
    [{ suspend: true }, {}],
    [{ suspend: false }, { running: 2 }],
  ]),
  changed('resumed-later', [job, { pods: 2, spec: { suspend: true } }], {}, JOBS, [
    [{ suspend: false }, { running: 2 }],
  ]),
];

const SCALED: readonly Case[] = [
  changed('scale-up', [deployment, { pods: 1 }], { running: 1 }, DEPLOYMENTS, [
    [{ replicas: 4 }, { running: 4 }],
  ]),
  changed('scale-down', [deployment, { pods: 4 }], { running: 4 }, DEPLOYMENTS, [
    [{ replicas: 1 }, { running: 1 }],
  ]),
  changed('scale-none', [deployment, { pods: 2 }], { running: 2 }, DEPLOYMENTS, [
    [{ replicas: 0 }, {}],
    [{ replicas: 2 }, { running: 2 }],
  ]),
  {
    ...changed('scale-full', [deployment, { pods: 20 }], FULL, DEPLOYMENTS, [
      [{ replicas: 3 }, { running: 3 }],
    ]),
    explained: ANY_PLACES,
  },
  changed('scale-set-up', [statefulSet, { pods: 1 }], { running: 1 }, SETS, [
    [{ replicas: 3 }, { running: 3 }],
  ]),
  changed('scale-set-down', [statefulSet, { pods: 3 }], { running: 3 }, SETS, [
    [{ replicas: 1 }, { running: 1 }],
  ]),
  changed(
    'scale-replicas',
    [replicaSet, { pods: 1 }],
    { running: 1 },
    ['apps/v1', 'replicasets'],
    [[{ replicas: 3 }, { running: 3 }]],
  ),
];

const SECOND = { version: '2' };
const template = { template: { metadata: { labels: SECOND } } };
const rolling = (rollingUpdate: object) => ({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate } } });

const ROLLOUTS: readonly Case[] = [
  changed('surge', [deployment, { pods: 2 }], { running: 2 }, DEPLOYMENTS, [
    [template, { running: 2 }, SECOND],
  ]),
  changed(
    'surge-all',
    [deployment, { pods: 4, ...rolling({ maxSurge: '100%', maxUnavailable: 0 }) }],
    { running: 4 },
    DEPLOYMENTS,
    [[template, { running: 4 }, SECOND]],
  ),
  changed(
    'surge-none',
    [deployment, { pods: 4, requests: { cpu: '3' }, ...rolling({ maxSurge: 0, maxUnavailable: 1 }) }],
    { running: 4, nodes: 4 },
    DEPLOYMENTS,
    [[template, { running: 4, nodes: 4 }, SECOND]],
  ),
  changed(
    'surge-full',
    [deployment, { pods: 3, requests: { cpu: '3' } }],
    { running: 3, nodes: 3 },
    DEPLOYMENTS,
    [[template, { running: 3, nodes: 3 }, SECOND]],
  ),
  changed(
    'recreated',
    [deployment, { pods: 3, spec: { strategy: { type: 'Recreate' } } }],
    { running: 3 },
    DEPLOYMENTS,
    [[template, { running: 3 }, SECOND]],
  ),
  changed('set-rolled', [statefulSet, { pods: 3 }], { running: 3 }, SETS, [
    [template, { running: 3 }, SECOND],
  ]),
  changed(
    'set-kept',
    [statefulSet, { pods: 2, spec: { updateStrategy: { type: 'OnDelete' } } }],
    { running: 2 },
    SETS,
    [[template, { running: 2 }]],
  ),
  changed(
    'agents-rolled',
    [daemonSet, { requests: { cpu: '100m' } }],
    { running: 4 },
    ['apps/v1', 'daemonsets'],
    [[template, { running: 4, nodes: 4, zones: 2 }, SECOND]],
  ),
  changed('paused', [deployment, { pods: 2, spec: { paused: true } }], {}, DEPLOYMENTS, [
    [{ paused: false }, { running: 2 }],
  ]),
];

const gates = { schedulingGates: [{ name: 'example.com/staged' }] };
/** As the controller of the gate does, which leaves others alone. */
const open = { schedulingGates: [{ name: 'example.com/staged', $patch: 'delete' }] };

const GATES: readonly Case[] = [
  changed('gate-pod', [pod, { spec: gates }], {}, ['v1', 'pods'], [[open, { running: 1 }]]),
  changed('gate-pod-kept', [pod, { spec: gates }], {}, ['v1', 'pods'], []),
  changed('gate-deployment', [deployment, { pods: 2, pod: gates }], {}, DEPLOYMENTS, []),
  changed('gate-job', [job, { pods: 2, pod: gates }], {}, JOBS, []),
  changed('gate-set', [statefulSet, { pods: 2, pod: gates }], {}, SETS, [[{ template: { spec: open } }, {}]]),
];

export const CHANGE_CASES: readonly Case[] = [...ELASTIC, ...SCALED, ...ROLLOUTS, ...GATES];
