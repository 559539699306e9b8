/** How long a pod may end, in both forms of admission on a real apiserver. */
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CONTAINER, type Fields, owner, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { rights, rule } from './makers';
import { ALICE, accepted, CONTROLLER, denied, type Users, usersOf } from './users';

const MOST = 3600;
const template = (spec: Fields) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [CONTAINER], ...spec },
});
const made = (apiVersion: string, kind: string, spec: Fields, metadata: Fields = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { generateName: 'made-', ...metadata },
  spec,
});
const jobSpec = (spec: Fields) => ({ template: template({ restartPolicy: 'Never', ...spec }) });
const app =
  (kind: string, more: Fields = {}) =>
  (spec: Fields, metadata?: Fields) =>
    made(
      'apps/v1',
      kind,
      { replicas: 0, selector: { matchLabels: { app: 'x' } }, ...more, template: template(spec) },
      metadata,
    );
const replicaSet = app('ReplicaSet');

/** Each kind of object whose pods have this spec, and the path of the spec. */
const KINDS: readonly (readonly [kind: string, path: string, make: (spec: Fields) => KubeObject])[] = [
  ['Pod', 'spec', (spec) => pod(spec)],
  ['Job', 'spec.template.spec', (spec) => made('batch/v1', 'Job', jobSpec(spec))],
  ['Deployment', 'spec.template.spec', app('Deployment')],
  ['ReplicaSet', 'spec.template.spec', replicaSet],
  ['StatefulSet', 'spec.template.spec', app('StatefulSet', { serviceName: 'x' })],
  [
    'ReplicationController',
    'spec.template.spec',
    (spec) =>
      made('v1', 'ReplicationController', { replicas: 0, selector: { app: 'x' }, template: template(spec) }),
  ],
  [
    'CronJob',
    'spec.jobTemplate.spec.template.spec',
    (spec) => made('batch/v1', 'CronJob', { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec(spec) } }),
  ],
];
const lasting = (terminationGracePeriodSeconds: number) => ({ terminationGracePeriodSeconds });
const problem = (field: string, got: number) =>
  `FLUXQ_GRACE_PERIOD: ${field}: must be at most ${MOST}, because the pod runs for so many seconds beyond its walltime ` +
  `(got ${got}); shorten it, or ask an administrator for a longer maxGracePeriod of FluxQueue`;

const POD_COLLECTOR = 'system:serviceaccount:kube-system:pod-garbage-collector';
/** Users with no more than these rights: whoever may write the status of nodes, or delete them, speaks for them. */
const ENDERS: readonly KubeObject[] = [
  ...rights(
    'deletes',
    [rule([''], ['pods', 'pods/eviction'], ['create', 'delete', 'deletecollection'])],
    ['tenant', 'virtual-kubelet', 'autoscaler', POD_COLLECTOR],
  ),
  ...rights('speaks', [rule([''], ['nodes/status'], ['patch'])], ['virtual-kubelet']),
  ...rights('removes', [rule([''], ['nodes'], ['delete'])], ['autoscaler']),
];

const byController = (name: string) => `system:serviceaccount:kube-system:${name}-controller`;

describeCluster('the grace period of a pod', (getCluster) => {
  let users: Users;
  useForms(getCluster, (created) => {
    users = created;
  });

  let enders: Users;
  let kubelets: Users;
  beforeAll(async () => {
    await getCluster().apply(ENDERS);
    enders = usersOf(getCluster(), null);
    // By the Node authorizer.
    kubelets = usersOf(getCluster(), 'system:nodes');
  });
  afterAll(() => {
    enders?.close();
    kubelets?.close();
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    it.each(KINDS)('of a %s is bounded in its template', async (_, path, make) => {
      await denied(
        users.create(ALICE, namespace, make(lasting(MOST + 1))),
        problem(`${path}.terminationGracePeriodSeconds`, MOST + 1),
      );
      await accepted(users.create(ALICE, namespace, make(lasting(MOST))));
    });

    it.each(KINDS)('of a %s is bounded after a failed probe', async (_, path, make) => {
      const probed = (list: string, probe: string, seconds: number) => ({
        [list]: [
          { ...CONTAINER, ...(list === 'initContainers' && { name: 'beside', restartPolicy: 'Always' }) },
        ].map((container) => ({
          ...container,
          [probe]: { exec: { command: ['true'] }, terminationGracePeriodSeconds: seconds },
        })),
      });
      for (const list of ['containers', 'initContainers'])
        for (const probe of ['livenessProbe', 'startupProbe']) {
          await denied(
            users.create(ALICE, namespace, make(probed(list, probe, MOST + 1))),
            problem(`${path}.containers[].*Probe.terminationGracePeriodSeconds`, MOST + 1),
          );
          await accepted(users.create(ALICE, namespace, make(probed(list, probe, MOST))));
        }
    });

    it('of a Job is bounded whatever annotation the Job has', async () => {
      const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
      await denied(
        users.create(ALICE, namespace, made('batch/v1', 'Job', jobSpec(lasting(MOST + 1)), mirror)),
        problem('spec.template.spec.terminationGracePeriodSeconds', MOST + 1),
      );
    });

    /** A Deployment and a Job, which make what exists longer than the limit. */
    const ownerOf = async (kind: 'Deployment' | 'Job') => {
      const make = KINDS.find(([name]) => name === kind)![2];
      const { apiVersion, metadata } = await accepted(users.create(ALICE, namespace, make({})));
      const controller = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
      return { ownerReferences: [controller] };
    };
    /** A pod that the Job controller makes of a template from before the limit. */
    const oldPod = async () =>
      accepted(users.create(byController('job'), namespace, pod(lasting(86_400), await ownerOf('Job'))));

    it('may not become longer by an update, and one from before the limit stays', async () => {
      // The controller of an older Deployment makes it.
      const before = replicaSet(lasting(86_400), await ownerOf('Deployment'));
      const old = await accepted(users.create(byController('deployment'), namespace, before));
      const change = (spec: Fields) => users.patch(ALICE, namespace, old, { spec: { template: { spec } } });
      await accepted(users.patch(ALICE, namespace, old, { metadata: { labels: { app: 'y' } } }));
      await denied(
        change(lasting(86_401)),
        problem('spec.template.spec.terminationGracePeriodSeconds', 86_401),
      );
      await accepted(change(lasting(60)));
    });

    it('of a probe from before the limit stays, beside other changes', async () => {
      const probed = (terminationGracePeriodSeconds: number) => ({
        containers: [
          {
            ...CONTAINER,
            livenessProbe: { exec: { command: ['true'] }, terminationGracePeriodSeconds },
          },
        ],
      });
      const before = replicaSet(probed(86_400), await ownerOf('Deployment'));
      const old = await accepted(users.create(byController('deployment'), namespace, before));
      const change = (spec: Fields) => users.patch(ALICE, namespace, old, { spec: { template: { spec } } });
      const [one] = probed(86_400).containers;
      await accepted(change({ containers: [{ ...CONTAINER, name: 'other' }, one] }));
      await denied(
        change(probed(86_401)),
        problem('spec.template.spec.containers[].*Probe.terminationGracePeriodSeconds', 86_401),
      );
    });

    it('is that of the template in pods that a controller makes, also if it is from before the limit', async () => {
      await oldPod();
      const unjudged = pod(lasting(86_400), { ownerReferences: [owner('example.com/v1', 'Operated')] });
      await denied(
        users.create('system:serviceaccount:kube-system:operator', namespace, unjudged),
        problem('spec.terminationGracePeriodSeconds', 86_400),
      );
    });

    const pathOf = ({ metadata }: KubeObject) => `/api/v1/namespaces/${namespace}/pods/${metadata.name}`;
    const during = (gracePeriodSeconds: number) => ({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds,
    });

    /** A pod that has no node is deleted at once, whatever the request says. */
    const bind = async (made: KubeObject) => {
      await accepted(users.patch(CONTROLLER, namespace, made, { spec: { schedulingGates: null } }));
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: made.metadata.name } };
      const target = { apiVersion: 'v1', kind: 'Node', name: 'somewhere' };
      await users.send(undefined, 'POST', `${pathOf(made)}/binding`, { ...binding, target });
      return made;
    };

    it('is bounded in the deletion of a pod, of pods, and in an eviction', async () => {
      const one = await bind(
        await accepted(users.create(ALICE, namespace, pod({}, { labels: { ends: 'soon' } }))),
      );
      const refused = problem('gracePeriodSeconds', 86_400);
      const all = `/api/v1/namespaces/${namespace}/pods?labelSelector=ends%3Dsoon`;
      const eviction = (seconds: number) => ({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: one.metadata.name },
        deleteOptions: { gracePeriodSeconds: seconds },
      });
      await denied(users.send(ALICE, 'DELETE', pathOf(one), during(86_400)), refused);
      await denied(users.send(ALICE, 'DELETE', `${pathOf(one)}?gracePeriodSeconds=86400`), refused);
      await denied(users.send(ALICE, 'DELETE', all, during(86_400)), refused);
      await denied(users.send(ALICE, 'POST', `${pathOf(one)}/eviction`, eviction(86_400)), refused);
      await accepted(users.send(ALICE, 'POST', `${pathOf(one)}/eviction?dryRun=All`, eviction(MOST)));
      await accepted(users.send(ALICE, 'DELETE', pathOf(one), during(MOST)));
    });

    it('is not none of a pod that runs, but for those who speak for its node', async () => {
      const forced = 'FLUXQ_GRACE_PERIOD: gracePeriodSeconds: must be at least 1, ';
      const none = during(0);
      const labels = { ends: `by-force-${namespace}` };
      const runs = async () => bind(await accepted(users.create(ALICE, namespace, pod({}, { labels }))));
      const one = await runs();
      const all = `/api/v1/namespaces/${namespace}/pods?labelSelector=ends%3D${labels.ends}`;
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: one.metadata.name } };
      const evict = (deleteOptions: object) =>
        enders.send('tenant', 'POST', `${pathOf(one)}/eviction?dryRun=All`, { ...eviction, deleteOptions });
      await denied(enders.send('tenant', 'DELETE', pathOf(one), none), forced);
      await denied(enders.send('tenant', 'DELETE', `${pathOf(one)}?gracePeriodSeconds=0`), forced);
      await denied(enders.send('tenant', 'DELETE', all, none), forced);
      await denied(evict({ gracePeriodSeconds: 0 }), forced);
      await accepted(evict({}));
      // Also a pod that ends already.
      await accepted(enders.send('tenant', 'DELETE', pathOf(one), during(60)));
      await denied(enders.send('tenant', 'DELETE', pathOf(one), none), forced);
      await accepted(enders.send('tenant', 'DELETE', pathOf(one), during(1)));
      await accepted(enders.send('virtual-kubelet', 'DELETE', pathOf(one), none));
      await accepted(kubelets.send('system:node:somewhere', 'DELETE', pathOf(await runs()), none));
      await accepted(enders.send('autoscaler', 'DELETE', pathOf(await runs()), none));
      await accepted(enders.send(POD_COLLECTOR, 'DELETE', pathOf(await runs()), none));
      await accepted(enders.send(undefined, 'DELETE', pathOf(await runs()), none));
    });

    it('is none of a pod whose own is none, whatever the request says', async () => {
      for (const options of [during(0), { kind: 'DeleteOptions', apiVersion: 'v1' }]) {
        const prompt = await bind(
          await accepted(users.create(ALICE, namespace, pod({ terminationGracePeriodSeconds: 0 }))),
        );
        await accepted(enders.send('tenant', 'DELETE', pathOf(prompt), options));
      }
    });

    it('may be none of a pod that waits, or has ended', async () => {
      const waiting = await accepted(users.create(ALICE, namespace, pod({})));
      await accepted(enders.send('tenant', 'DELETE', pathOf(waiting), during(0)));
      const over = await bind(await accepted(users.create(ALICE, namespace, pod({}))));
      await accepted(
        users.send(undefined, 'PATCH', `${pathOf(over)}/status`, { status: { phase: 'Succeeded' } }),
      );
      await accepted(enders.send('tenant', 'DELETE', pathOf(over), during(0)));
    });

    it('of a pod that has a longer one from before the limit is taken in its deletion', async () => {
      const old = await bind(await oldPod());
      const refused = problem('gracePeriodSeconds', 86_401);
      await denied(users.send(ALICE, 'DELETE', pathOf(old), during(86_401)), refused);
      await accepted(users.send(ALICE, 'DELETE', pathOf(old), during(86_400)));
    });
  });
});
