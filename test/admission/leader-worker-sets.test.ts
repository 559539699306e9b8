/** LeaderWorkerSets that could never start, or whose settings nobody would read, with both forms of admission on a real apiserver. */
import { LEADER_WORKER_SET, LWS_EXCLUSIVE_ANNOTATION } from '../../constructs/api/leader-worker-set';
import { apiVersionOf } from '../../runtime/kubernetes/kind-fields';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { applyStandIns } from '../kinds/stand-in';
import { FORMS, PLAIN, useForms } from './forms';
import { ALICE, accepted, denied, type Users } from './users';

const template = (metadata: object = {}, spec: object = {}) => ({
  metadata,
  spec: { containers: [], ...spec },
});
const walltime = { annotations: { 'fluxqueue/walltime': '1h' } };
const make = (spec: object = {}, templates: object = {}, annotations: object = {}): KubeObject => ({
  apiVersion: apiVersionOf(LEADER_WORKER_SET),
  kind: LEADER_WORKER_SET.kind,
  metadata: { generateName: 'x-', annotations } as KubeObject['metadata'],
  spec: { ...spec, leaderWorkerTemplate: { size: 2, workerTemplate: template(), ...templates } },
});

const beyond = (term: object) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {}, ...term }],
    },
  },
});

const TEMPLATES = 'FLUXQ_POD_SETS: spec.leaderWorkerTemplate: leaderTemplate and workerTemplate differ in ';

/** What is refused, and the same without what is wrong. */
const REFUSED: readonly (readonly [title: string, wrong: KubeObject, right: KubeObject, start: string])[] = [
  [
    'workers that are made once their leader runs',
    make({ startupPolicy: 'LeaderReady' }),
    make({ startupPolicy: 'LeaderCreated' }),
    'FLUXQ_POD_SETS: spec.startupPolicy: ',
  ],
  [
    'workers that are made once their leader has a node',
    make({}, {}, { [LWS_EXCLUSIVE_ANNOTATION]: '' }),
    make(),
    `FLUXQ_POD_SETS: metadata.annotations["${LWS_EXCLUSIVE_ANNOTATION}"]: `,
  ],
  [
    'more pods than a group has',
    make({}, { size: 10_001 }),
    make({}, { size: 10_000 }),
    'FLUXQ_POD_SETS: spec.leaderWorkerTemplate.size: ',
  ],
  ...['leaderTemplate', 'workerTemplate'].flatMap((name) =>
    ['labels', 'annotations'].map(
      (map) =>
        [
          `a group of its user in the ${map} of the ${name}`,
          make({}, { [name]: template({ [map]: { 'fluxqueue/group': 'ring' } }) }),
          make({}, { [name]: template({ [map]: { note: 'x' } }) }),
          'FLUXQ_SETTING_INVALID: spec.leaderWorkerTemplate: fluxqueue/group and fluxqueue/group-size have no effect',
        ] as const,
    ),
  ),
  [
    'other settings of its workers',
    make(
      {},
      {
        leaderTemplate: template({ annotations: { 'fluxqueue/walltime': '2h' } }),
        workerTemplate: template(walltime),
      },
    ),
    make(
      {},
      { leaderTemplate: template({ labels: walltime.annotations }), workerTemplate: template(walltime) },
    ),
    `${TEMPLATES}fluxqueue/walltime, but a leader starts together with its workers; write the same in both`,
  ],
  [
    'another priority of its leader',
    make({}, { leaderTemplate: template(walltime, { priorityClassName: 'urgent' }) }),
    make({}, { leaderTemplate: template({ annotations: { 'fluxqueue/hold': 'true' } }) }),
    `${TEMPLATES}fluxqueue/walltime, priorityClassName, `,
  ],
  [
    'a priority that not every user may set',
    make({}, { workerTemplate: template({ annotations: { 'fluxqueue/priority': '1' } }) }),
    make({}, { workerTemplate: template({ annotations: { 'fluxqueue/priority': '0' } }) }),
    'FLUXQ_PRIORITY: spec.leaderWorkerTemplate: fluxqueue/priority: must be from -100 to 0, because',
  ],
  [
    'pods that keep those of other namespaces from nodes',
    make({}, { workerTemplate: template({}, beyond({ namespaces: ['other'] })) }),
    make({}, { workerTemplate: template({}, beyond({})) }),
    'FLUXQ_REACH: spec.leaderWorkerTemplate: podAntiAffinity: ',
  ],
  [
    'a long grace period',
    make({}, { leaderTemplate: template({}, { terminationGracePeriodSeconds: 3601 }) }),
    make({}, { leaderTemplate: template({}, { terminationGracePeriodSeconds: 3600 }) }),
    'FLUXQ_GRACE_PERIOD: spec.leaderWorkerTemplate.*.spec.terminationGracePeriodSeconds: must be at most 3600',
  ],
  [
    'settings beside its templates',
    make({}, {}, walltime.annotations),
    make({}, { workerTemplate: template(walltime) }),
    'FLUXQ_SETTING_INVALID: metadata: a label or annotation fluxqueue/… has no effect on a LeaderWorkerSet; move it to spec.leaderWorkerTemplate',
  ],
];

describeCluster('a LeaderWorkerSet', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(async () => {
    for (const form of FORMS) await applyStandIns(getCluster(), form);
  });

  describe.each(FORMS)('in the namespace of the %s', (form) => {
    test.each(REFUSED)('is refused with %s', async (_, wrong, right, start) => {
      await denied(users.create(ALICE, form, wrong), start);
      const made = await accepted(users.create(ALICE, form, right));
      await denied(users.patch(ALICE, form, made, merged(wrong)), start);
    });

    test('is not written into', async () => {
      const { spec, metadata } = await accepted(users.create(ALICE, form, make()));
      expect([spec, metadata.labels, metadata.annotations]).toEqual([make().spec, undefined, undefined]);
    });
  });

  test.each(REFUSED)('outside the queue may have %s', async (_, wrong) => {
    await accepted(users.create(ALICE, PLAIN, wrong));
  });

  test('that is older than the rules may be changed, and stay as it was in what is wrong', async () => {
    const namespace = 'joined';
    await getCluster().apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const old = await accepted(users.create(ALICE, namespace, make({ startupPolicy: 'LeaderReady' })));
    const enabled = { metadata: { labels: { 'fluxqueue/enabled': 'true', form: 'policies' } } };
    await accepted(users.send(undefined, 'PATCH', `/api/v1/namespaces/${namespace}`, enabled));
    const start = 'FLUXQ_POD_SETS: spec.startupPolicy: ';
    await getCluster().waitFor('the rules to apply to the namespace', async () => {
      const { body } = await users.create(ALICE, namespace, make({ startupPolicy: 'LeaderReady' }));
      return body.message?.includes(start);
    });
    await accepted(users.patch(ALICE, namespace, old, { spec: { replicas: 2 } }));
    await accepted(users.patch(ALICE, namespace, old, { spec: { startupPolicy: 'LeaderCreated' } }));
    await denied(users.patch(ALICE, namespace, old, { spec: { startupPolicy: 'LeaderReady' } }), start);
  });
});

/** What of the object a merge patch changes. */
function merged({ metadata: { annotations }, spec }: KubeObject): object {
  return { metadata: { annotations }, spec };
}
