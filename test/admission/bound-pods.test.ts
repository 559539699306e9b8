/** Pods that are bound when they are created, as by a nodeName in the template of a Job: only onto a place of their grant. */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { JOB_CONTROLLER, OTHER_CONTROLLERS, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

const PROBLEM = 'FLUXQ_RESERVED: spec.nodeName: ';
const OF_JOB = {
  ownerReferences: [
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'o',
      uid: '6f1d2a0e-0000-4000-8000-000000000002',
      controller: true,
    },
  ],
};
const bound = (metadata: object = {}) => pod({ nodeName: 'node-0' }, { ...metadata });
const assignedTo = (assignment: string, index?: string) =>
  bound({
    annotations: {
      [ASSIGNMENT_ANNOTATION]: assignment,
      ...(index !== undefined && { [COMPLETION_INDEX_ANNOTATION]: index }),
    },
    ...OF_JOB,
  });

describeCluster('a bound pod', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const create = (user: string, made: KubeObject) => users.create(user, namespace, made);

    test.each([ALICE, 'system:serviceaccount:policies:builder', ...OTHER_CONTROLLERS, JOB_CONTROLLER])(
      'is not created by %s without a grant',
      (user) => denied(create(user, bound()), PROBLEM),
    );

    test('is created by the controller of the queue', async () => {
      await accepted(create(CONTROLLER, bound()));
    });

    test.each<[assignment: string, index: string | undefined]>([
      ['0/1:node-0', undefined],
      ['0/1:node-1;1/1:node-0', '1'],
    ])('of the assignment %s and the index %s is created', async (assignment, index) => {
      await accepted(create(JOB_CONTROLLER, assignedTo(assignment, index)));
    });

    test.each<[assignment: string, index: string | undefined]>([
      ['0/1:node-1', undefined],
      ['0/1:node-0;1/1:node-1', '1'],
      // A Job may be granted fewer places than it has pods.
      ['0/1:node-0;1/1:', '1'],
      ['0/1:node-0;1/1:', undefined],
      ['0/1:node-0', '1'],
    ])('of the assignment %s and the index %s is not', (assignment, index) =>
      denied(create(JOB_CONTROLLER, assignedTo(assignment, index)), PROBLEM),
    );
  });
});
