/** Pods that the queue released, in both forms of admission on a real apiserver. */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { CONTAINER, JOB_CONTROLLER, job, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
const ownedBy = (name = '', uid = '') => ({
  ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true }],
});
const sized = (cpu: string) => ({
  containers: [{ ...CONTAINER, resources: { requests: { cpu, memory: '1Gi' } } }],
});
const releasedWith = ({ name, uid = '' }: KubeObject['metadata']) =>
  pod(sized('1'), {
    labels: { [JOB_UID_LABEL]: uid, [JOB_NAME_LABEL]: name },
    annotations: {
      [ASSIGNMENT_ANNOTATION]: '0/1:node-0',
      [COMPLETION_INDEX_ANNOTATION]: '0',
      [JOBID_ANNOTATION]: '7',
    },
    ...ownedBy(name, uid),
  });

describeCluster('a pod that the queue released', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  const resize = (user: string, { metadata }: KubeObject, spec: object) =>
    users.send(user, 'PATCH', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/resize`, {
      spec,
    });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    let train: KubeObject['metadata'];
    /** Its Job exists, so that it is not garbage, but no controller runs it. */
    const create = async () => {
      const made = await accepted(users.create(ALICE, namespace, job({ managedBy: 'example.com/nobody' })));
      train = made.metadata;
      return accepted(users.create(JOB_CONTROLLER, namespace, releasedWith(train)));
    };
    const edit = (by: string, object: KubeObject, metadata: object) =>
      users.patch(by, namespace, object, { metadata });

    it('keeps the labels of its Job', async () => {
      const made = await create();
      for (const key of [JOB_UID_LABEL, JOB_NAME_LABEL])
        for (const value of ['other', null])
          await denied(
            edit(ALICE, made, { labels: { [key]: value } }),
            `FLUXQ_RESERVED: metadata.labels["${key}"]: `,
          );
      await accepted(edit(ALICE, made, { labels: { app: 'x' } }));
    });

    it('keeps its completion index', async () => {
      const made = await create();
      for (const value of ['1', null])
        await denied(
          edit(ALICE, made, { annotations: { [COMPLETION_INDEX_ANNOTATION]: value } }),
          `FLUXQ_RESERVED: metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]: `,
        );
    });

    it('is orphaned by the garbage collector only, and adopted by its own Job only', async () => {
      const made = await create();
      const start = 'FLUXQ_RESERVED: metadata.ownerReferences: ';
      await denied(edit(ALICE, made, { ownerReferences: null }), start);
      await accepted(edit(COLLECTOR, made, { ownerReferences: null }));
      const other = ownedBy('other', '6f1d2a0e-0000-4000-8000-000000000003');
      await denied(edit(JOB_CONTROLLER, made, other), start);
      await denied(edit(ALICE, made, ownedBy(train.name, train.uid!)), start);
      await accepted(edit(JOB_CONTROLLER, made, ownedBy(train.name, train.uid!)));
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
