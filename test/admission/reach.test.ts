/** What reaches beyond the namespace of its user besides priorities, in both forms of admission on a real apiserver. */
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { type Fields, owner } from './corpus-objects';
import { FORMS, makeNamespace, useForms } from './forms';
import { daemonSet, MAKERS, rights, rule, WRITE, WRITE_WORKLOADS } from './makers';
import { accepted, denied, type Users } from './users';

const JOBS = 'system:serviceaccount:kube-system:job-controller';
const SETS = 'system:serviceaccount:kube-system:replicaset-controller';
const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';

/** It makes pods for the users of other objects, and may make them everywhere. */
const OPERATOR = 'system:serviceaccount:kubeflow:training-operator';

const against = (...terms: Fields[]) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: terms.map((term) => ({
        topologyKey: 'kubernetes.io/os',
        labelSelector: {},
        ...term,
      })),
    },
  },
});
const BETA = { namespaces: ['beta'] };
const ALL = { namespaceSelector: {} };
const BEYOND: readonly (readonly [string, Fields])[] = [
  ['the pods of another namespace', against(BETA)],
  ['the pods of another namespace and its own', against({ namespaces: ['policies', 'webhook'] })],
  ['the pods of every namespace', against(ALL)],
  ['those of its namespace, and then of others', against({}, BETA)],
];
const FIELD: Readonly<Record<string, string>> = {
  Pod: 'spec',
  CronJob: 'spec.jobTemplate.spec.template.spec',
};

describeCluster('what reaches beyond a namespace', (getCluster) => {
  let users: Users;
  useForms(
    getCluster,
    (made) => {
      users = made;
    },
    null,
  );
  beforeAll(async () => {
    const cluster = getCluster();
    const workloads = [...WRITE_WORKLOADS, rule(['apps'], ['daemonsets'], WRITE)];
    await makeNamespace(cluster, 'other', {});
    await cluster.apply([
      ...[...FORMS, 'other'].flatMap((namespace) =>
        rights('write', workloads, ['tenant', JOBS, SETS, COLLECTOR], namespace),
      ),
      ...rights('everywhere', workloads, ['admin', 'engine', OPERATOR]),
    ]);
    // The apiserver reads each policy and each right some time after it has stored it.
    for (const namespace of FORMS) {
      for (const [kind, make] of Object.entries({ ...MAKERS, DaemonSet: daemonSet }))
        await cluster.waitFor(`the guard of ${kind}`, async () => {
          const { body } = await users.create('tenant', namespace, make({}, against(BETA)));
          return body.message?.includes('FLUXQ_REACH');
        });
      const made = () => users.create('admin', namespace, daemonSet());
      await cluster.waitFor('the right', async () => (await made()).status === 201);
    }
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    describe.each(Object.entries(MAKERS))('a %s', (kind, make) => {
      const field = `FLUXQ_REACH: ${FIELD[kind] ?? 'spec.template.spec'}.affinity.podAntiAffinity: `;

      it.each(BEYOND)('keeps %s from no node', async (_, spec) => {
        await denied(users.create('tenant', namespace, make({}, spec)), field);
        await accepted(users.create('engine', namespace, make({}, spec)));
      });

      it('keeps the pods of its own namespace from a node', async () => {
        for (const term of [{}, { namespaces: [namespace] }])
          await accepted(users.create('tenant', namespace, make({}, against(term))));
      });

      it('prefers nodes without the pods of other namespaces, and goes where they are', async () => {
        const term = { topologyKey: 'kubernetes.io/os', labelSelector: {}, ...ALL };
        const affinity = {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
          },
        };
        await accepted(users.create('tenant', namespace, make({}, { affinity })));
      });

      it('is not limited where the queue is not', async () => {
        await accepted(users.create('tenant', 'other', make({}, against(ALL))));
      });
    });

    const changed = (terms: object) => ({ spec: { template: { spec: terms } } });

    it('an update adds no such rule, and one that is there may stay', async () => {
      const plain = await accepted(users.create('tenant', namespace, MAKERS.Deployment!()));
      await denied(users.patch('tenant', namespace, plain, changed(against(BETA))), 'FLUXQ_REACH: ');
      const made = await accepted(
        users.create('engine', namespace, MAKERS.Deployment!({}, against(BETA, ALL))),
      );
      await accepted(users.patch('tenant', namespace, made, { spec: { replicas: 3 } }));
      await accepted(users.patch('tenant', namespace, made, changed(against(BETA))));
      await denied(users.patch('tenant', namespace, made, changed(against(BETA, ALL))), 'FLUXQ_REACH: ');
    });

    it('the controllers of Kubernetes create what a template of before asks for', async () => {
      const of = (apiVersion: string, kind: string) => ({ ownerReferences: [owner(apiVersion, kind)] });
      const spec = against(BETA);
      await accepted(users.create(JOBS, namespace, MAKERS.Pod!(of('batch/v1', 'Job'), spec)));
      await accepted(users.create(SETS, namespace, MAKERS.Pod!(of('apps/v1', 'ReplicaSet'), spec)));
      for (const [user, kind] of [
        [JOBS, 'example.com/v1'],
        ['tenant', 'batch/v1'],
      ] as const)
        await denied(users.create(user, namespace, MAKERS.Pod!(of(kind, 'Job'), spec)), 'FLUXQ_REACH: ');
    });

    it.each(Object.entries(MAKERS))(
      'an operator makes no such %s for the user of another object',
      async (_, make) => {
        const made = { ownerReferences: [owner('kubeflow.org/v1', 'PyTorchJob')] };
        await denied(
          users.create(OPERATOR, namespace, {
            ...make({}, against(ALL)),
            metadata: { generateName: 'x-', ...made },
          }),
          'FLUXQ_REACH: ',
        );
        await accepted(users.create(OPERATOR, namespace, make({}, against(ALL))));
      },
    );

    describe('a DaemonSet', () => {
      const start = 'FLUXQ_REACH: kind: ';
      const image = { spec: { template: { spec: { terminationGracePeriodSeconds: 5 } } } };

      it('is created and changed only with the right to create it in the whole cluster', async () => {
        await denied(users.create('tenant', namespace, daemonSet()), start);
        const made = await accepted(users.create('engine', namespace, daemonSet()));
        await denied(users.patch('tenant', namespace, made, image), start);
        await accepted(users.patch('engine', namespace, made, image));
      });

      it('is not limited where the queue is not', async () => {
        await accepted(users.create('tenant', 'other', daemonSet()));
      });

      it('gets the metadata that the controllers of Kubernetes write', async () => {
        const made = await accepted(users.create('engine', namespace, daemonSet()));
        await accepted(users.patch(COLLECTOR, namespace, made, { metadata: { ownerReferences: null } }));
        await accepted(users.patch('tenant', namespace, made, { metadata: { labels: { app: 'y' } } }));
      });

      it('gets its status from its controller', async () => {
        const made = await accepted(users.create('engine', namespace, daemonSet()));
        await getCluster().waitFor('its status', async () => {
          const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${made.metadata.name}`;
          const { status } = (await getCluster().get<KubeObject>(path)) as { status?: Fields };
          return status?.observedGeneration === 1;
        });
      });
    });
  });
});
