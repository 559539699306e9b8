/** The changes that only the runtime may make, tried as several users on a real apiserver. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  GROUP_MEMBER_ANNOTATION,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  PRIORITY_CLASS,
  QUEUED_BY_ANNOTATION,
  SCHEDULER_NAME,
  STACK_NAMESPACE,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { type Fields, JOB_CONTROLLER, job, OTHER_CONTROLLERS, ownedBy, pod } from './corpus-objects';
import { FORMS, makeNamespace, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

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

describeCluster('the guards', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(() => makeNamespace(getCluster(), 'other', {}));

  const admittedLabel = (body: KubeObject) => body.metadata.labels?.[ADMITTED_LABEL];

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const waiting = () => accepted(users.create(ALICE, namespace, job({ parallelism: 2, completions: 4 })));

    it('only the runtime releases a waiting Job', async () => {
      const train = await waiting();
      const started = await accepted(users.patch(ALICE, namespace, train, { spec: { suspend: false } }));
      expect(started.spec).toMatchObject({ suspend: true });
      await denied(users.patch(ALICE, namespace, train, RELEASE), 'FLUXQ_RESERVED: ');
      expect(await accepted(users.patch(CONTROLLER, namespace, train, RELEASE))).toMatchObject(RELEASE);
    });

    it('users can suspend their Job, label it, and change its size while it waits', async () => {
      const train = await waiting();
      await accepted(users.patch(ALICE, namespace, train, { spec: { parallelism: 4 } }));
      await accepted(
        users.patch(ALICE, namespace, train, { metadata: { labels: { 'fluxqueue/hold': 'true' } } }),
      );
      await accepted(users.patch(CONTROLLER, namespace, train, RELEASE));
      await accepted(users.patch(ALICE, namespace, train, { spec: { suspend: true } }));
    });

    it('only the runtime changes the admitted label', async () => {
      const train = await waiting();
      const label = (value: string | null) => ({ metadata: { labels: { [ADMITTED_LABEL]: value } } });
      const start = `FLUXQ_RESERVED: metadata.labels["${ADMITTED_LABEL}"]: `;
      for (const value of [null, 'false', ''])
        expect(admittedLabel(await accepted(users.patch(ALICE, namespace, train, label(value))))).toBe(
          'true',
        );
      const probe = await accepted(users.create(ALICE, namespace, pod()));
      for (const value of [null, 'false'])
        await denied(users.patch(ALICE, namespace, probe, label(value)), start);
      const kueueJob = job({ suspend: true }, { labels: { 'kueue.x-k8s.io/queue-name': 'team' } });
      const unmanaged = await accepted(users.create(ALICE, namespace, kueueJob));
      await denied(users.patch(ALICE, namespace, unmanaged, label('true')), start);
      expect(
        admittedLabel(await accepted(users.patch(CONTROLLER, namespace, train, label(null)))),
      ).toBeUndefined();
    });

    it('no user can claim that the pods of a Job of Kueue are of another user', async () => {
      const kueue = { labels: { 'kueue.x-k8s.io/queue-name': 'x' } };
      const made = await accepted(users.create(ALICE, namespace, job({ suspend: true }, kueue)));
      expect(made.spec).toMatchObject({
        template: { metadata: { annotations: { [USER_ANNOTATION]: ALICE } } },
      });
      const claim = (user: string | null) => ({
        spec: { template: { metadata: { annotations: { [USER_ANNOTATION]: user } } } },
      });
      for (const user of ['bob', null])
        await denied(
          users.patch(ALICE, namespace, made, claim(user)),
          `FLUXQ_RESERVED: spec.template.metadata.annotations["${USER_ANNOTATION}"]: `,
        );
    });

    it('no user can claim that another user created a workload', async () => {
      const train = await waiting();
      expect(train.metadata.annotations).toMatchObject({ [USER_ANNOTATION]: ALICE });
      const claim = (user: string | null) => ({ metadata: { annotations: { [USER_ANNOTATION]: user } } });
      const start = `FLUXQ_RESERVED: metadata.annotations["${USER_ANNOTATION}"]: `;
      for (const user of ['bob', null])
        expect((await accepted(users.patch(ALICE, namespace, train, claim(user)))).metadata).toMatchObject({
          annotations: { [USER_ANNOTATION]: ALICE },
        });
      const probe = await accepted(users.create(ALICE, namespace, pod()));
      await denied(users.patch(ALICE, namespace, probe, claim('bob')), start);
      await accepted(users.patch(CONTROLLER, namespace, train, claim('bob')));
    });

    it('settings are validated only when they change', async () => {
      const train = await waiting();
      const setting = (value: string) => ({ metadata: { annotations: { 'fluxqueue/walltime': value } } });
      await denied(
        users.patch(ALICE, namespace, train, setting('soon')),
        'FLUXQ_SETTING_INVALID: metadata.annotations["fluxqueue/walltime"]: ',
      );
      await accepted(users.patch(ALICE, namespace, train, setting('2h')));
      const group = { metadata: { labels: { 'fluxqueue/group': 'ring' } } };
      await denied(
        users.patch(ALICE, namespace, train, group),
        'FLUXQ_SETTING_INVALID: metadata.labels["fluxqueue/group"]: is for Pods alone ',
      );
    });

    it('only the runtime ungates a pod', async () => {
      const probe = await accepted(
        users.create(ALICE, namespace, pod({ schedulingGates: [{ name: 'mine' }] })),
      );
      const gates = (...names: string[]) => ({
        spec: { schedulingGates: names.map((name) => ({ name })) },
      });
      await denied(users.patch(ALICE, namespace, probe, gates('mine')), 'FLUXQ_HELD: spec.schedulingGates: ');
      await accepted(users.patch(ALICE, namespace, probe, gates(GATE)));
      await accepted(users.patch(CONTROLLER, namespace, probe, gates()));
    });
  });

  describe.each([...FORMS])('no pod passes the queue by in the namespace of the %s', (namespace) => {
    const KUBELET = 'system:node:node-0';
    const DAEMONSETS = 'system:serviceaccount:kube-system:daemon-set-controller';
    const mirror = { 'kubernetes.io/config.mirror': 'x' };

    it('as a mirror of a static pod, but those of a kubelet', async () => {
      const start = 'FLUXQ_RESERVED: metadata.annotations["kubernetes.io/config.mirror"]: ';
      await denied(
        users.create(ALICE, namespace, pod({ nodeName: 'node-0' }, { annotations: mirror })),
        start,
      );
      const { body } = await users.create(
        KUBELET,
        namespace,
        pod({ nodeName: 'node-0' }, { annotations: mirror }),
      );
      expect(body.message ?? '').not.toContain('FLUXQ_');
    });

    it('as a pod of a DaemonSet, but those of its controller', async () => {
      const ofSet = pod({}, ownedBy('apps/v1', 'DaemonSet'));
      for (const user of [ALICE, ...OTHER_CONTROLLERS])
        await denied(users.create(user, namespace, ofSet), 'FLUXQ_RESERVED: metadata.ownerReferences: ');
      for (const user of [DAEMONSETS, 'system:kube-controller-manager'])
        expect((await accepted(users.create(user, namespace, ofSet))).spec).not.toHaveProperty(
          'schedulingGates',
        );
    });
  });

  describe.each(['policies', 'other'])('in the namespace %s', (namespace) => {
    const reserved = `FLUXQ_RESERVED: metadata.annotations["${ASSIGNMENT_ANNOTATION}"]: `;

    it('only the runtime sets the assignment of a Job', async () => {
      const annotations = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' };
      const inTemplate = job({}, {}, { metadata: { annotations } });
      for (const user of [ALICE, JOB_CONTROLLER, ...OTHER_CONTROLLERS])
        await denied(
          users.create(user, namespace, inTemplate),
          `FLUXQ_RESERVED: spec.template.metadata.annotations["${ASSIGNMENT_ANNOTATION}"]: `,
        );
      await denied(users.create(ALICE, namespace, job({}, assigned)), reserved);
      await accepted(users.create(CONTROLLER, namespace, inTemplate));
    });

    it.each([JOBID_ANNOTATION, GROUP_MEMBER_ANNOTATION, OWNER_ANNOTATION, QUEUED_BY_ANNOTATION])(
      'no user writes %s into the metadata of a Job, and whoever has it can remove it',
      async (key) => {
        const metadata = (value: string | null) => ({ annotations: { [key]: value } });
        const start = `FLUXQ_RESERVED: metadata.annotations["${key}"]: can only be set by the queue; remove it`;
        for (const value of ['7', ''])
          await denied(users.create(ALICE, namespace, job({}, metadata(value) as Fields)), start);
        const train = await accepted(users.create(ALICE, namespace, job({ suspend: true })));
        const patch = (user: string, value: string | null) =>
          users.patch(user, namespace, train, { metadata: metadata(value) });
        await denied(patch(ALICE, '7'), start);
        await accepted(patch(CONTROLLER, '7'));
        await accepted(users.patch(ALICE, namespace, train, { metadata: { labels: { tier: 'gold' } } }));
        await denied(patch(ALICE, '8'), start);
        await accepted(patch(ALICE, null));
      },
    );

    it('nobody names another user for the pods of a Job', async () => {
      const of = (user: string) => job({}, {}, { metadata: { annotations: { [USER_ANNOTATION]: user } } });
      const { status, body } = await users.create(ALICE, namespace, of('bob'));
      expect(status).toBe(403);
      expect(body.message).toContain(`spec.template.metadata.annotations["${USER_ANNOTATION}"]: `);
    });

    it('only the Job controller creates pods with an assignment, and only pods of a Job', async () => {
      const ofJob = pod({}, { ...assigned, ...ownedBy('batch/v1', 'Job') });
      for (const user of [ALICE, ...OTHER_CONTROLLERS])
        await denied(users.create(user, namespace, ofJob), reserved);
      for (const user of [JOB_CONTROLLER, 'system:kube-controller-manager', CONTROLLER])
        await accepted(users.create(user, namespace, ofJob));
      const ofSet = pod({}, { ...assigned, ...ownedBy('apps/v1', 'ReplicaSet') });
      await denied(users.create('system:kube-controller-manager', namespace, ofSet), reserved);
      const probe = await accepted(users.create(ALICE, namespace, pod()));
      await denied(users.patch(ALICE, namespace, probe, { metadata: assigned }), reserved);
      await accepted(users.patch(ALICE, namespace, probe, { metadata: { annotations: { mine: 'x' } } }));
    });

    const ofTemplate = (metadata: object) => ({ spec: { template: { metadata } } });
    const numberStart = `metadata.annotations["${JOBID_ANNOTATION}"]: `;

    it('only the runtime sets or changes the job id of a Job', async () => {
      const start = `FLUXQ_RESERVED: spec.template.${numberStart}`;
      const inTemplate = job({ suspend: true }, {}, { metadata: numbered('900000000') });
      for (const user of [ALICE, JOB_CONTROLLER, ...OTHER_CONTROLLERS])
        await denied(users.create(user, namespace, inTemplate), start);
      const train = await accepted(users.create(ALICE, namespace, job({ suspend: true })));
      await denied(users.patch(ALICE, namespace, train, ofTemplate(numbered('7'))), start);
      await accepted(users.patch(CONTROLLER, namespace, train, ofTemplate(numbered('7'))));
      for (const jobid of ['8', ''])
        await denied(users.patch(ALICE, namespace, train, ofTemplate(numbered(jobid))), start);
      const dropping = users.patch(ALICE, namespace, train, ofTemplate(numbered(null)));
      // Where admission applies, it puts back what a manifest drops.
      if (namespace === 'other') await denied(dropping, start);
      else expect((await accepted(dropping)).spec).toMatchObject({ template: { metadata: numbered('7') } });
      await accepted(users.patch(ALICE, namespace, train, ofTemplate({ annotations: { mine: 'x' } })));
      await accepted(users.patch(CONTROLLER, namespace, train, ofTemplate(numbered('8'))));
      await accepted(users.create(CONTROLLER, namespace, inTemplate));
    });

    it('only the Job controller creates pods with a job id, and only pods of a Job', async () => {
      const start = `FLUXQ_RESERVED: ${numberStart}`;
      const ofJob = pod({}, { ...numbered('7'), ...ownedBy('batch/v1', 'Job') });
      const asReleased = pod(
        {},
        {
          annotations: { ...assigned.annotations, ...numbered('7').annotations },
          ...ownedBy('batch/v1', 'Job'),
        },
      );
      for (const user of [ALICE, ...OTHER_CONTROLLERS])
        await denied(users.create(user, namespace, ofJob), start);
      for (const user of [JOB_CONTROLLER, 'system:kube-controller-manager', CONTROLLER])
        for (const object of [ofJob, asReleased])
          expect((await accepted(users.create(user, namespace, object))).metadata).toMatchObject(
            numbered('7'),
          );
      const ofSet = pod({}, { ...numbered('7'), ...ownedBy('apps/v1', 'ReplicaSet') });
      await denied(users.create('system:kube-controller-manager', namespace, ofSet), start);
      const probe = await accepted(users.create(ALICE, namespace, pod()));
      await denied(users.patch(ALICE, namespace, probe, { metadata: numbered('7') }), start);
    });
  });

  describe('in a namespace without admission', () => {
    it('no workload can have the admitted label', async () => {
      const labels = { [ADMITTED_LABEL]: 'true' };
      const start = `FLUXQ_RESERVED: metadata.labels["${ADMITTED_LABEL}"]: `;
      await denied(users.create(ALICE, 'other', job({ suspend: true }, { labels })), start);
      await denied(
        users.create(ALICE, 'other', pod({ schedulingGates: [{ name: GATE }] }, { labels })),
        start,
      );
    });

    it('no pod can use the scheduler of the queue without the queue', async () => {
      const skipping = pod({ schedulerName: SCHEDULER_NAME });
      await denied(users.create(ALICE, 'other', skipping), 'FLUXQ_RESERVED: spec.schedulerName: ');
      const gated = await accepted(users.create(ALICE, 'policies', skipping));
      expect(gated.spec).toMatchObject({ schedulingGates: [{ name: GATE }] });
    });

    it('no pod can have the PriorityClass of the stack', async () => {
      const urgent = (name: string) => pod({ priorityClassName: name });
      await getCluster().apply({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: PRIORITY_CLASS },
        value: 1_000_000_000,
      } as KubeObject);
      await makeNamespace(getCluster(), STACK_NAMESPACE, {});
      const start = 'FLUXQ_RESERVED: spec.priorityClassName: ';
      for (const namespace of ['other', 'policies', 'kube-system'])
        for (const user of [ALICE, ...OTHER_CONTROLLERS])
          await denied(users.create(user, namespace, urgent(PRIORITY_CLASS)), start);
      await accepted(users.create(ALICE, STACK_NAMESPACE, urgent(PRIORITY_CLASS)));
      await accepted(users.create(ALICE, 'other', urgent('system-node-critical')));
    });

    it('Jobs and pods are not restricted', async () => {
      const free = await accepted(users.create(ALICE, 'other', job({ suspend: true })));
      await accepted(users.patch(ALICE, 'other', free, { spec: { suspend: false } }));
      await accepted(users.patch(ALICE, 'other', free, { spec: { parallelism: 7 } }));
      const probe = await accepted(
        users.create(ALICE, 'other', pod({ schedulingGates: [{ name: 'mine' }] })),
      );
      await accepted(users.patch(ALICE, 'other', probe, { spec: { schedulingGates: [] } }));
    });

    it('objects from before the opt-in keep invalid settings until a user changes these settings', async () => {
      const annotations = { 'fluxqueue/walltime': 'soon' };
      const old = await accepted(users.create(ALICE, 'other', job({ suspend: true }, { annotations })));
      await makeNamespace(getCluster(), 'other', { 'fluxqueue/enabled': 'true' });
      await getCluster().waitFor('the opt-in', async () => {
        const { status } = await users.create(ALICE, 'other', job({}, { annotations }));
        return status === 403;
      });
      await accepted(users.patch(ALICE, 'other', old, { metadata: { labels: { app: 'x' } } }));
      const worse = { metadata: { annotations: { 'fluxqueue/walltime': 'later' } } };
      await denied(users.patch(ALICE, 'other', old, worse), 'FLUXQ_SETTING_INVALID: ');
    });
  });
});
