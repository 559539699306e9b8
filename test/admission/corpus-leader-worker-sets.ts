/** Entries of the corpus: pods of LeaderWorkerSets, as the StatefulSets of their controller make them, and pods that only look like these. */
import { type Entry, type Fields, gated, OTHER_CONTROLLERS, ownedBy, pod } from './corpus-objects';

const STATEFUL_SETS = OTHER_CONTROLLERS.find((name) => name.endsWith(':statefulset-controller'))!;
const OF_A_SET = ownedBy('apps/v1', 'StatefulSet');

const PREFIX = 'leaderworkerset.sigs.k8s.io';
const NAME = { [`${PREFIX}/name`]: 'serve' };
const LEADER = { ...NAME, [`${PREFIX}/worker-index`]: '0' };
const WORKER = { ...NAME, [`${PREFIX}/group-index`]: '7' };
const SIZE = { [`${PREFIX}/size`]: '3' };

/** The name of the StatefulSet in all of these. */
const OF_WORKERS = { is: 'grouped', group: 'owner', size: '3' } as const;

const made = (
  title: string,
  expectedOutcome: Entry['expectedOutcome'],
  metadata: Fields,
  as = STATEFUL_SETS,
): Entry => ({
  title: `of a LeaderWorkerSet: ${title}`,
  object: pod({}, { ...OF_A_SET, annotations: SIZE, ...metadata }),
  expectedOutcome,
  as,
});

export const LEADER_WORKER_ENTRIES: readonly Entry[] = [
  made('a leader', { is: 'grouped', group: 'serve-7', size: '3' }, { name: 'serve-7', labels: LEADER }),
  made('a worker', OF_WORKERS, { labels: WORKER }),
  made('a worker that its webhook has seen before', OF_WORKERS, {
    labels: { ...WORKER, [`${PREFIX}/worker-index`]: '2' },
  }),
  made(
    'a worker by the controller manager',
    OF_WORKERS,
    { labels: WORKER },
    'system:kube-controller-manager',
  ),
  made('a worker with a group of its user', OF_WORKERS, {
    labels: { ...WORKER, 'fluxqueue/group': 'ring' },
    annotations: { ...SIZE, 'fluxqueue/group': 'serve-0', 'fluxqueue/group-size': '4' },
  }),
  made('a worker with a group that is no name', OF_WORKERS, {
    labels: WORKER,
    annotations: { ...SIZE, 'fluxqueue/group': 'A Group' },
  }),
  made(
    'a worker with a size that is none',
    {
      is: 'denied',
      code: 'FLUXQ_SETTING_INVALID',
      field: 'metadata.annotations["fluxqueue/group-size"]',
    },
    { labels: WORKER, annotations: { [`${PREFIX}/size`]: 'many' } },
  ),
  made('a pod without its name', gated, { labels: { [`${PREFIX}/group-index`]: '7' } }),
  made('a pod without the size of its group', gated, { labels: WORKER, annotations: { note: 'x' } }),
  ...['leader', 'worker'].map((role) =>
    made(
      `a ${role} that a person makes`,
      gated,
      { labels: role === 'leader' ? LEADER : WORKER },
      'ada@example.com',
    ),
  ),
  made('a worker without an owner', gated, { labels: WORKER, ownerReferences: [] }),
  made('a worker of a ReplicaSet', gated, { labels: WORKER, ...ownedBy('apps/v1', 'ReplicaSet') }),
  made('a worker of a StatefulSet of another group of kinds', gated, {
    labels: WORKER,
    ...ownedBy('apps.example.com/v1', 'StatefulSet'),
  }),
];
