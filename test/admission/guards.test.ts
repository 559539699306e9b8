/** What nobody but the runtime may do, tried as several users on a real apiserver. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  JOBID_ANNOTATION,
  SCHEDULER_NAME,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { WebhookServer } from '../../runtime/admission/server';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { FORMS, installForms, makeNamespace } from './forms';
import { JOB_CONTROLLER, job, pod } from './objects';
import { type Reply, type Users, usersOf } from './users';

const ALICE = 'alice';
const CONTROLLER = 'system:serviceaccount:fluxqueue-system:fluxqueue-controller';
const OTHER_CONTROLLERS = ['replicaset-controller', 'cronjob-controller', 'statefulset-controller'].map(
  (name) => `system:serviceaccount:kube-system:${name}`,
);
const RELEASE = {
  spec: {
    suspend: false,
    template: {
      metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '7' } },
    },
  },
};
const assigned = {
  annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [COMPLETION_INDEX_ANNOTATION]: '0' },
};
const numbered = (jobid: string | null) => ({ annotations: { [JOBID_ANNOTATION]: jobid } });
const owner = (apiVersion: string, kind: string) => ({
  ownerReferences: [
    { apiVersion, kind, name: 'o', uid: '6f1d2a0e-0000-4000-8000-000000000002', controller: true },
  ],
});

describeCluster(
  'the guards',
  (getCluster) => {
    let webhook: WebhookServer;
    let users: Users;
    beforeAll(async () => {
      webhook = await installForms(getCluster());
      users = usersOf(getCluster());
      await makeNamespace(getCluster(), 'other', {});
    });
    afterAll(async () => {
      users?.close();
      await webhook?.stop();
    });

    const made = async (reply: Promise<Reply>): Promise<KubeObject> => {
      const { status, body } = await reply;
      expect(body.message ?? '').toBe('');
      expect(status).toBeLessThan(300);
      return body;
    };
    const refused = async (reply: Promise<Reply>, start: string): Promise<void> => {
      const { status, body } = await reply;
      expect(body.message).toContain(`denied request: ${start}`);
      expect(status).toBe(422);
    };
    const admittedLabel = (body: KubeObject) => body.metadata.labels?.[ADMITTED_LABEL];

    describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
      const waiting = () => made(users.create(ALICE, namespace, job({ parallelism: 2, completions: 4 })));

      it('only the runtime releases a Job that waits', async () => {
        const train = await waiting();
        await refused(
          users.patch(ALICE, namespace, train, { spec: { suspend: false } }),
          'FLUXQ_HELD: spec.suspend: ',
        );
        await refused(users.patch(ALICE, namespace, train, RELEASE), 'FLUXQ_');
        expect(await made(users.patch(CONTROLLER, namespace, train, RELEASE))).toMatchObject(RELEASE);
      });

      it('users may suspend their Job, and label it, and change its size while it waits', async () => {
        const train = await waiting();
        await made(users.patch(ALICE, namespace, train, { spec: { parallelism: 4 } }));
        await made(
          users.patch(ALICE, namespace, train, { metadata: { labels: { 'fluxqueue/hold': 'true' } } }),
        );
        await made(users.patch(CONTROLLER, namespace, train, RELEASE));
        await made(users.patch(ALICE, namespace, train, { spec: { suspend: true } }));
      });

      it('a released Job does not grow past what it was given', async () => {
        const train = await waiting();
        await made(users.patch(CONTROLLER, namespace, train, RELEASE));
        await refused(
          users.patch(ALICE, namespace, train, { spec: { parallelism: 3 } }),
          'FLUXQ_RELEASED: spec.parallelism: ',
        );
        await made(users.patch(ALICE, namespace, train, { spec: { parallelism: 1 } }));
      });

      it('the admitted label stays as it is', async () => {
        const train = await waiting();
        const label = (value: string | null) => ({ metadata: { labels: { [ADMITTED_LABEL]: value } } });
        const start = `FLUXQ_RESERVED: metadata.labels["${ADMITTED_LABEL}"]: `;
        for (const value of [null, 'false', ''])
          await refused(users.patch(ALICE, namespace, train, label(value)), start);
        const probe = await made(users.create(ALICE, namespace, pod()));
        for (const value of [null, 'false'])
          await refused(users.patch(ALICE, namespace, probe, label(value)), start);
        const kueues = job({ suspend: true }, { labels: { 'kueue.x-k8s.io/queue-name': 'team' } });
        const unmanaged = await made(users.create(ALICE, namespace, kueues));
        await refused(users.patch(ALICE, namespace, unmanaged, label('true')), start);
        expect(
          admittedLabel(await made(users.patch(CONTROLLER, namespace, train, label(null)))),
        ).toBeUndefined();
      });

      it('nobody passes a workload off as made by another', async () => {
        const train = await waiting();
        expect(train.metadata.annotations).toMatchObject({ [USER_ANNOTATION]: ALICE });
        const claim = (user: string | null) => ({ metadata: { annotations: { [USER_ANNOTATION]: user } } });
        const start = `FLUXQ_RESERVED: metadata.annotations["${USER_ANNOTATION}"]: `;
        for (const user of ['bob', null])
          await refused(users.patch(ALICE, namespace, train, claim(user)), start);
        const probe = await made(users.create(ALICE, namespace, pod()));
        await refused(users.patch(ALICE, namespace, probe, claim('bob')), start);
        await made(users.patch(CONTROLLER, namespace, train, claim('bob')));
      });

      it('settings are judged when they change, and only then', async () => {
        const train = await waiting();
        const setting = (value: string) => ({ metadata: { annotations: { 'fluxqueue/walltime': value } } });
        await refused(
          users.patch(ALICE, namespace, train, setting('soon')),
          'FLUXQ_SETTING_INVALID: metadata.annotations["fluxqueue/walltime"]: ',
        );
        await made(users.patch(ALICE, namespace, train, setting('2h')));
        const group = { metadata: { labels: { 'fluxqueue/group': 'ring' } } };
        await refused(
          users.patch(ALICE, namespace, train, group),
          'FLUXQ_SETTING_INVALID: metadata.labels["fluxqueue/group"]: is not supported yet ',
        );
      });

      it('only the runtime ungates a pod', async () => {
        const probe = await made(
          users.create(ALICE, namespace, pod({ schedulingGates: [{ name: 'mine' }] })),
        );
        const gates = (...names: string[]) => ({
          spec: { schedulingGates: names.map((name) => ({ name })) },
        });
        await refused(
          users.patch(ALICE, namespace, probe, gates('mine')),
          'FLUXQ_HELD: spec.schedulingGates: ',
        );
        await made(users.patch(ALICE, namespace, probe, gates(GATE)));
        await made(users.patch(CONTROLLER, namespace, probe, gates()));
      });
    });

    describe.each(['policies', 'other'])('in the namespace %s', (namespace) => {
      const reserved = `FLUXQ_RESERVED: metadata.annotations["${ASSIGNMENT_ANNOTATION}"]: `;

      it('nobody gives a Job its assignment but the runtime', async () => {
        const inTemplate = job({}, {}, { metadata: assigned });
        for (const user of [ALICE, JOB_CONTROLLER, ...OTHER_CONTROLLERS])
          await refused(users.create(user, namespace, inTemplate), reserved);
        await refused(users.create(ALICE, namespace, job({}, assigned)), reserved);
        await made(users.create(CONTROLLER, namespace, inTemplate));
      });

      it('pods have an assignment from the Job controller only, for pods of a Job', async () => {
        const ofJob = pod({}, { ...assigned, ...owner('batch/v1', 'Job') });
        for (const user of [ALICE, ...OTHER_CONTROLLERS])
          await refused(users.create(user, namespace, ofJob), reserved);
        for (const user of [JOB_CONTROLLER, 'system:kube-controller-manager', CONTROLLER])
          await made(users.create(user, namespace, ofJob));
        const ofSet = pod({}, { ...assigned, ...owner('apps/v1', 'ReplicaSet') });
        await refused(users.create('system:kube-controller-manager', namespace, ofSet), reserved);
        const probe = await made(users.create(ALICE, namespace, pod()));
        await refused(users.patch(ALICE, namespace, probe, { metadata: assigned }), reserved);
        await made(users.patch(ALICE, namespace, probe, { metadata: { annotations: { mine: 'x' } } }));
      });

      const ofTemplate = (metadata: object) => ({ spec: { template: { metadata } } });
      const numberStart = `metadata.annotations["${JOBID_ANNOTATION}"]: `;

      it('nobody writes or changes the job id of a Job but the runtime', async () => {
        const start = `FLUXQ_RESERVED: spec.template.${numberStart}`;
        const inTemplate = job({ suspend: true }, {}, { metadata: numbered('900000000') });
        for (const user of [ALICE, JOB_CONTROLLER, ...OTHER_CONTROLLERS])
          await refused(users.create(user, namespace, inTemplate), start);
        const train = await made(users.create(ALICE, namespace, job({ suspend: true })));
        await refused(users.patch(ALICE, namespace, train, ofTemplate(numbered('7'))), start);
        await made(users.patch(CONTROLLER, namespace, train, ofTemplate(numbered('7'))));
        for (const jobid of ['8', '', null])
          await refused(users.patch(ALICE, namespace, train, ofTemplate(numbered(jobid))), start);
        await made(users.patch(ALICE, namespace, train, ofTemplate({ annotations: { mine: 'x' } })));
        await made(users.patch(CONTROLLER, namespace, train, ofTemplate(numbered('8'))));
        await made(users.create(CONTROLLER, namespace, inTemplate));
      });

      it('pods have a job id from the Job controller only, for pods of a Job', async () => {
        const start = `FLUXQ_RESERVED: ${numberStart}`;
        const ofJob = pod({}, { ...numbered('7'), ...owner('batch/v1', 'Job') });
        const asReleased = pod(
          {},
          {
            annotations: { ...assigned.annotations, ...numbered('7').annotations },
            ...owner('batch/v1', 'Job'),
          },
        );
        for (const user of [ALICE, ...OTHER_CONTROLLERS])
          await refused(users.create(user, namespace, ofJob), start);
        for (const user of [JOB_CONTROLLER, 'system:kube-controller-manager', CONTROLLER])
          for (const object of [ofJob, asReleased])
            expect((await made(users.create(user, namespace, object))).metadata).toMatchObject(numbered('7'));
        const ofSet = pod({}, { ...numbered('7'), ...owner('apps/v1', 'ReplicaSet') });
        await refused(users.create('system:kube-controller-manager', namespace, ofSet), start);
        const probe = await made(users.create(ALICE, namespace, pod()));
        await refused(users.patch(ALICE, namespace, probe, { metadata: numbered('7') }), start);
      });
    });

    describe('in a namespace that takes no part', () => {
      it('nothing can claim to be taken in', async () => {
        const labels = { [ADMITTED_LABEL]: 'true' };
        const start = `FLUXQ_RESERVED: metadata.labels["${ADMITTED_LABEL}"]: `;
        await refused(users.create(ALICE, 'other', job({ suspend: true }, { labels })), start);
        await refused(
          users.create(ALICE, 'other', pod({ schedulingGates: [{ name: GATE }] }, { labels })),
          start,
        );
      });

      it("the queue's scheduler takes no pods past the queue", async () => {
        const skipping = pod({ schedulerName: SCHEDULER_NAME });
        await refused(users.create(ALICE, 'other', skipping), 'FLUXQ_RESERVED: spec.schedulerName: ');
        const gated = await made(users.create(ALICE, 'policies', skipping));
        expect(gated.spec).toMatchObject({ schedulingGates: [{ name: GATE }] });
      });

      it('ordinary Jobs and pods live as ever', async () => {
        const free = await made(users.create(ALICE, 'other', job({ suspend: true })));
        await made(users.patch(ALICE, 'other', free, { spec: { suspend: false } }));
        await made(users.patch(ALICE, 'other', free, { spec: { parallelism: 7 } }));
        const probe = await made(users.create(ALICE, 'other', pod({ schedulingGates: [{ name: 'mine' }] })));
        await made(users.patch(ALICE, 'other', probe, { spec: { schedulingGates: [] } }));
      });

      it('objects from before the opt-in keep their wrong settings until someone changes those', async () => {
        const annotations = { 'fluxqueue/walltime': 'soon' };
        const old = await made(users.create(ALICE, 'other', job({ suspend: true }, { annotations })));
        await makeNamespace(getCluster(), 'other', { 'fluxqueue/enabled': 'true' });
        await getCluster().waitFor('the opt-in', async () => {
          const { status } = await users.create(ALICE, 'other', job({}, { annotations }));
          return status === 422;
        });
        await made(users.patch(ALICE, 'other', old, { metadata: { labels: { app: 'x' } } }));
        const worse = { metadata: { annotations: { 'fluxqueue/walltime': 'later' } } };
        await refused(users.patch(ALICE, 'other', old, worse), 'FLUXQ_SETTING_INVALID: ');
      });
    });
  },
  { scheduler: false },
);
