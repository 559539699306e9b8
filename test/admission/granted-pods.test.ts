/** Pods that the queue released, in both forms of admission on a real apiserver. */
import { JOB_TRACKING_FINALIZER } from '../../constructs/api/job-controller';
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  QUEUED_BY_ANNOTATION,
} from '../../constructs/api/labels';
import { POD_SET_LABELS } from '../../constructs/api/workload-kinds';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CONTAINER, JOB_CONTROLLER, job, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
/** Of Kubernetes: whatever rights they have, none of them releases a pod of a Job. */
const CONTROLLERS = [JOB_CONTROLLER, 'system:serviceaccount:kube-system:replicaset-controller'];
const ownedBy = (name = '', uid = '') => ({
  ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
});
const sized = (cpu: string) => ({
  containers: [{ ...CONTAINER, resources: { requests: { cpu, memory: '1Gi' } } }],
});
const serving = (spec: unknown) => ({ ...(spec as object), restartPolicy: 'Always' });
const IN_A_POD_SET = Object.fromEntries(POD_SET_LABELS.map((key) => [key, 'worker']));
const GRANTS = {
  'of a grant': { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '7' },
  'of a Job that Kueue started': { [QUEUED_BY_ANNOTATION]: 'kueue' },
};
type Grant = keyof typeof GRANTS;
const releasedWith = ({ name, uid = '' }: KubeObject['metadata'], grant: Grant) =>
  pod(sized('1'), {
    labels: { [JOB_UID_LABEL]: uid, [JOB_NAME_LABEL]: name, own: 'x', ...IN_A_POD_SET },
    annotations: { [COMPLETION_INDEX_ANNOTATION]: '0', ...GRANTS[grant] },
    finalizers: [JOB_TRACKING_FINALIZER, 'example.com/mine'],
    ...ownedBy(name, uid),
  });

describeCluster('a pod that the queue released', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const pathOf = ({ kind, metadata: { namespace, name } }: KubeObject) =>
    kind === 'Job'
      ? `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`
      : `/api/v1/namespaces/${namespace}/pods/${name}`;
  /** Those that a controller has made for an object, also if it has let go of them. */
  const podsOf = async (namespace: string, { metadata }: KubeObject) => {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await getCluster().get<{ items: readonly KubeObject[] }>(path);
    return items
      .filter(({ metadata: { generateName } }) => generateName === `${metadata.name}-`)
      .map((item): KubeObject => ({ ...item, kind: 'Pod' }));
  };
  /** How often the guard of pods has refused something. */
  const refusals = async () => {
    const { text } = await getCluster().api.send('GET', '/metrics');
    const line =
      /^apiserver_validating_admission_policy_check_total\{enforcement_action="deny".*policy="fluxqueue-guard-pods".*\} (\d+)$/gm;
    return [...text.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const resize = (user: string, made: KubeObject, spec: object) =>
    users.send(user, 'PATCH', `${pathOf(made)}/resize`, { spec });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    let train: KubeObject['metadata'];
    /** Its Job exists, so that it is not garbage, but no controller runs it. */
    const create = async (grant: Grant = 'of a grant') => {
      const made = await accepted(users.create(ALICE, namespace, job({ managedBy: 'example.com/nobody' })));
      train = made.metadata;
      return accepted(users.create(JOB_CONTROLLER, namespace, releasedWith(train, grant)));
    };
    const edit = (by: string, object: KubeObject, metadata: object) =>
      users.patch(by, namespace, object, { metadata });
    const owner = 'FLUXQ_RESERVED: metadata.ownerReferences: ';

    describe.each(Object.keys(GRANTS) as Grant[])('%s', (grant) => {
      it('keeps the labels of its Job', async () => {
        const made = await create(grant);
        for (const key of [JOB_UID_LABEL, JOB_NAME_LABEL])
          for (const value of ['other', null])
            await denied(
              edit(ALICE, made, { labels: { [key]: value } }),
              `FLUXQ_RESERVED: metadata.labels["${key}"]: `,
            );
        await accepted(edit(ALICE, made, { labels: { app: 'x' } }));
      });

      it('keeps its pod set, whose places are counted by it', async () => {
        const made = await create(grant);
        for (const key of POD_SET_LABELS)
          for (const value of ['launcher', null]) {
            const labels = { [key]: value };
            await denied(edit(ALICE, made, { labels }), `FLUXQ_RESERVED: metadata.labels["${key}"]: `);
            const byStatus = users.send(ALICE, 'PATCH', `${pathOf(made)}/status`, { metadata: { labels } });
            await denied(byStatus, 'FLUXQ_RESERVED: metadata: ');
          }
      });

      it('keeps its completion index', async () => {
        const made = await create(grant);
        for (const value of ['1', null])
          await denied(
            edit(ALICE, made, { annotations: { [COMPLETION_INDEX_ANNOTATION]: value } }),
            `FLUXQ_RESERVED: metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]: `,
          );
      });

      it('is not released by its Job when a label of a selector is gone', async () => {
        const made = await create(grant);
        await accepted(edit(ALICE, made, { labels: { own: null } }));
        const release = { ownerReferences: null, finalizers: ['example.com/mine'] };
        for (const by of [ALICE, ...CONTROLLERS, 'system:kube-controller-manager'])
          await denied(edit(by, made, release), owner);
      });

      it.each(['Failed', 'Succeeded'])(
        'that has %s is released by its Job once that has counted it',
        async (phase) => {
          const made = await create(grant);
          const path = `${pathOf(made)}/status`;
          await accepted(users.send(undefined, 'PATCH', path, { status: { phase } }));
          const release = { ownerReferences: null, finalizers: ['example.com/mine'] };
          for (const by of [ALICE, ...CONTROLLERS, 'system:kube-controller-manager'])
            await denied(edit(by, made, release), owner);
          await accepted(edit(JOB_CONTROLLER, made, { finalizers: release.finalizers }));
          await denied(edit(ALICE, made, release), owner);
          await accepted(edit(JOB_CONTROLLER, made, release));
        },
      );

      it('has no other owner, and none of another kind or name with the uid of its Job', async () => {
        const made = await create(grant);
        const [first] = ownedBy(train.name, train.uid!).ownerReferences;
        for (const change of [{ kind: 'Train' }, { name: 'other' }, { controller: false }])
          await denied(edit(ALICE, made, { ownerReferences: [{ ...first, ...change }] }), owner);
        await accepted(edit(COLLECTOR, made, { ownerReferences: [{ ...first, blockOwnerDeletion: false }] }));
      });

      it('has another owner beside its Job only if this queue keeps its units then', async () => {
        const made = await create(grant);
        const [first] = ownedBy(train.name, train.uid!).ownerReferences;
        const uid = '6f1d2a0e-0000-4000-8000-000000000004';
        const beside = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid };
        const change = edit(ALICE, made, { ownerReferences: [first, beside] });
        await (grant === 'of a grant' ? accepted(change) : denied(change, owner));
      });

      it('is orphaned by the garbage collector only, and adopted by its own Job only', async () => {
        const made = await create(grant);
        await denied(edit(ALICE, made, { ownerReferences: null }), owner);
        await accepted(edit(COLLECTOR, made, { ownerReferences: null }));
        const other = ownedBy('other', '6f1d2a0e-0000-4000-8000-000000000003');
        await denied(edit(JOB_CONTROLLER, made, other), owner);
        await denied(edit(ALICE, made, ownedBy(train.name, train.uid!)), owner);
        await accepted(edit(JOB_CONTROLLER, made, ownedBy(train.name, train.uid!)));
      });

      it('is orphaned by a garbage collector under the one account of all controllers', async () => {
        const made = await create(grant);
        await accepted(edit('system:kube-controller-manager', made, { ownerReferences: null }));
      });

      it('keeps the finalizer of its Job until the Job controller removes it', async () => {
        const made = await create(grant);
        const tracking = { finalizers: ['example.com/mine'] };
        for (const by of [ALICE, COLLECTOR, 'system:serviceaccount:kube-system:operator'])
          for (const finalizers of [tracking.finalizers, null])
            await denied(edit(by, made, { finalizers }), 'FLUXQ_RESERVED: metadata.finalizers[');
        const byStatus = users.send(ALICE, 'PATCH', `${pathOf(made)}/status`, { metadata: tracking });
        await denied(byStatus, 'FLUXQ_RESERVED: metadata: ');
        await accepted(edit(ALICE, made, { finalizers: [JOB_TRACKING_FINALIZER] }));
        await accepted(edit(JOB_CONTROLLER, made, { finalizers: null }));
      });
    });

    it('of a Job with a selector of its own keeps all labels until it is counted', async () => {
      const made = await accepted(users.create(ALICE, namespace, job({ managedBy: 'example.com/nobody' })));
      const { name, uid } = made.metadata;
      const selected = await accepted(
        users.create(
          JOB_CONTROLLER,
          namespace,
          pod(sized('1'), {
            labels: { [JOB_UID_LABEL]: uid!, own: 'x' },
            annotations: GRANTS['of a grant'],
            finalizers: [JOB_TRACKING_FINALIZER],
            ...ownedBy(name, uid),
          }),
        ),
      );
      for (const labels of [{ own: null }, { own: 'y' }, { more: 'x' }])
        await denied(edit(ALICE, selected, { labels }), 'FLUXQ_RESERVED: metadata.labels: ');
      const end = { status: { phase: 'Succeeded' } };
      await accepted(users.send(undefined, 'PATCH', `${pathOf(selected)}/status`, end));
      await denied(edit(ALICE, selected, { labels: { own: null } }), 'FLUXQ_RESERVED: metadata.labels: ');
      await accepted(edit(JOB_CONTROLLER, selected, { finalizers: null }));
      await accepted(edit(ALICE, selected, { labels: { own: null } }));
    });

    it('stays the only one of a Job that lets go of it, also when it has ended, until its label is back', async () => {
      const labels = { own: `manual-${namespace}`, [JOB_NAME_LABEL]: 'of-the-user' };
      const selector = { manualSelector: true, selector: { matchLabels: { own: labels.own } } };
      const made = await accepted(
        users.create(ALICE, namespace, job(selector, {}, { metadata: { labels } })),
      );
      const annotations = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '7' };
      const release = { suspend: false, template: { metadata: { annotations } } };
      await getCluster().waitFor('the Job controller to see it', async () => {
        const { status } = await getCluster().get<{ status: { conditions?: object } }>(pathOf(made));
        return status.conditions !== undefined;
      });
      await accepted(users.patch(CONTROLLER, namespace, made, { spec: release }));
      const first = await getCluster().waitFor('its pod', async () => (await podsOf(namespace, made))[0]);
      const before = await refusals();
      await accepted(edit(ALICE, first, { labels: { own: null } }));
      await getCluster().waitFor('the refusals', async () => (await refusals()) >= before + 2);
      // Its end changes nothing: else it would run again, each time that its user removes the label.
      const end = { status: { phase: 'Failed' } };
      await accepted(users.send(undefined, 'PATCH', `${pathOf(first)}/status`, end));
      const ended = await refusals();
      await getCluster().waitFor('more refusals', async () => (await refusals()) >= ended + 2);
      expect((await podsOf(namespace, made)).map(({ metadata }) => metadata.uid)).toEqual([
        first.metadata.uid,
      ]);
      await accepted(edit(ALICE, first, { labels: { own: labels.own } }));
      await getCluster().waitFor(
        'the pod in its place',
        async () => (await podsOf(namespace, made)).length > 1,
      );
    });

    it('of a ReplicaSet is isolated by its label, and the one in its place waits for a grant of its own', async () => {
      const { spec } = pod();
      const labels = { own: `set-${namespace}` };
      const made = await accepted(
        users.create(ALICE, namespace, {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          metadata: { generateName: 'set-' },
          spec: {
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: serving(spec) },
          },
        }),
      );
      const first = await getCluster().waitFor('its pod', async () => (await podsOf(namespace, made))[0]);
      await accepted(edit(ALICE, first, { labels: { own: null } }));
      const both = await getCluster().waitFor('the pod in its place', async () => {
        const found = await podsOf(namespace, made);
        return found.length === 2 && found.some((one) => one.metadata.ownerReferences === undefined) && found;
      });
      for (const one of both) expect(one.spec).toMatchObject({ schedulingGates: [{ name: GATE }] });
    });

    it('is not resized beyond its grant', async () => {
      const made = await create();
      for (const by of [ALICE, 'system:serviceaccount:kube-system:vpa-updater'])
        await denied(resize(by, made, sized('1001m')), 'FLUXQ_RELEASED: resources.requests: ');
      await accepted(resize(ALICE, made, sized('500m')));
      await denied(resize(ALICE, made, sized('1')), 'FLUXQ_RELEASED: resources.requests: ');
    });

    it('of a Job is not resized while it waits: its Job asked for all its pods alike', async () => {
      await create();
      const waiting = pod(sized('1'), ownedBy(train.name, train.uid!));
      const made = await accepted(users.create(JOB_CONTROLLER, namespace, waiting));
      await denied(
        resize(ALICE, made, sized('2')),
        'FLUXQ_RELEASED: resources.requests: cannot be increased in a pod of a Job; ',
      );
      await accepted(resize(ALICE, made, sized('500m')));
    });

    it('is judged again if it is resized while it waits', async () => {
      const waiting = await accepted(users.create(ALICE, namespace, pod(sized('1'))));
      await accepted(resize(ALICE, waiting, sized('2')));
      await accepted(users.patch(CONTROLLER, namespace, waiting, { spec: { schedulingGates: null } }));
      await denied(resize(ALICE, waiting, sized('3')), 'FLUXQ_RELEASED: resources.requests: ');
    });
  });
});
