/** The person who counts for what controllers create, in both forms of admission on a real apiserver. */
import { USER_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CONTAINER, job, owner, pod } from './corpus-objects';
import { FORMS, makeNamespace, useForms } from './forms';
import { accepted, CONTROLLER, type Users } from './users';

const REPLICASETS = 'system:serviceaccount:kube-system:replicaset-controller';
const CRONJOBS = 'system:serviceaccount:kube-system:cronjob-controller';

type Holder = { metadata?: { annotations?: Record<string, string> } };
interface Maker {
  readonly make: (annotations?: Record<string, string>) => KubeObject;
  readonly holder: (object: KubeObject) => Holder;
  readonly patch: (annotations: Record<string, string | null>) => object;
}

const template = (annotations?: Record<string, string>) => ({
  metadata: { labels: { app: 'x' }, annotations },
  spec: { containers: [CONTAINER] },
});
const app = (apiVersion: string, kind: string, more: object): Maker => ({
  make: (annotations) => ({
    apiVersion,
    kind,
    metadata: { generateName: 'app-' },
    spec: { replicas: 0, ...more, template: template(annotations) },
  }),
  holder: ({ spec }) => (spec as { template: Holder }).template,
  patch: (annotations) => ({ spec: { template: { metadata: { annotations } } } }),
});
const SELECTOR = { selector: { matchLabels: { app: 'x' } } };
const MAKERS: Readonly<Record<string, Maker>> = {
  Deployment: app('apps/v1', 'Deployment', SELECTOR),
  ReplicaSet: app('apps/v1', 'ReplicaSet', SELECTOR),
  StatefulSet: app('apps/v1', 'StatefulSet', { ...SELECTOR, serviceName: 'x' }),
  ReplicationController: app('v1', 'ReplicationController', { selector: { app: 'x' } }),
  CronJob: {
    make: (annotations) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { generateName: 'cron-' },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: {
          metadata: { annotations },
          spec: { template: { spec: { restartPolicy: 'Never', containers: [CONTAINER] } } },
        },
      },
    }),
    holder: ({ spec }) => (spec as { jobTemplate: Holder }).jobTemplate,
    patch: (annotations) => ({ spec: { jobTemplate: { metadata: { annotations } } } }),
  },
  MiniCluster: {
    make: (annotations) => ({
      apiVersion: 'flux-framework.org/v1alpha2',
      kind: 'MiniCluster',
      metadata: { generateName: 'mc-', ...(annotations && { annotations }) },
      spec: { size: 1, containers: [{ image: 'x', runFlux: true }] },
    }),
    holder: (object) => object,
    patch: (annotations) => ({ metadata: { annotations } }),
  },
};

describeCluster('the creator of what controllers run', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(async () => {
    const cluster = getCluster();
    await makeNamespace(cluster, 'other', {});
    for (const form of FORMS)
      for (const [kind, { make, holder }] of Object.entries(MAKERS))
        await cluster.waitFor(`the admission of ${kind}`, async () => {
          const { body } = await users.create('ada', form, make());
          return holder(body).metadata?.annotations?.[USER_ANNOTATION] === 'ada';
        });
    for (const [kind, { make }] of Object.entries(MAKERS))
      await cluster.waitFor(`the guard of ${kind}`, async () => {
        const { status } = await users.create('ada', 'other', make({ [USER_ANNOTATION]: 'bob' }));
        return status === 403;
      });
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    it.each(Object.entries(MAKERS))(
      'is noted in a %s and cannot be claimed',
      async (_, { make, holder, patch }) => {
        const userIn = (object: KubeObject) => holder(object).metadata?.annotations?.[USER_ANNOTATION];
        const claim = { note: 'x', [USER_ANNOTATION]: 'bob' };
        for (const annotations of [undefined, { note: 'x' }, claim])
          expect(userIn(await accepted(users.create('ada', namespace, make(annotations))))).toBe('ada');
        const made = await accepted(users.create('ada', namespace, make()));
        for (const value of ['eve', null])
          expect(
            userIn(await accepted(users.patch('eve', namespace, made, patch({ [USER_ANNOTATION]: value })))),
          ).toBe('ada');
      },
    );

    it('stays with the pods and Jobs that controllers of Kubernetes create', async () => {
      const annotations = { [USER_ANNOTATION]: 'ada' };
      const ofSet = pod({}, { annotations, ownerReferences: [owner('apps/v1', 'ReplicaSet')] });
      const ofCron = job({}, { annotations, ownerReferences: [owner('batch/v1', 'CronJob')] });
      const made = await accepted(users.create(REPLICASETS, namespace, ofSet));
      expect(made.metadata.annotations).toMatchObject(annotations);
      expect((await accepted(users.create(CRONJOBS, namespace, ofCron))).metadata.annotations).toMatchObject(
        annotations,
      );
      expect((await accepted(users.create('eve', namespace, ofSet))).metadata.annotations).toMatchObject({
        [USER_ANNOTATION]: 'eve',
      });
    });

    it('stays with the Job that the runtime creates for a MiniCluster', async () => {
      const annotations = { [USER_ANNOTATION]: 'ada' };
      const made = await accepted(users.create(CONTROLLER, namespace, job({}, { annotations })));
      expect(made.metadata.annotations).toMatchObject(annotations);
    });
  });
});
