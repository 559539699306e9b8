/** What the subresources of Jobs and Pods can write, by a user whom RBAC allows everything, on a real apiserver. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
  PRIORITY,
  QUEUE,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { job, pod } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, accepted, denied, type Users, usersOf } from './users';

const DENIED = 'FLUXQ_RESERVED: metadata: ';
const OWNER = { apiVersion: 'batch/v1', kind: 'Job', name: 'o', uid: '6f1d2a0e-0000-4000-8000-000000000002' };
const LABELS = [KUEUE_QUEUE_LABEL, ADMITTED_LABEL, PRIORITY, QUEUE, JOB_UID_LABEL, JOB_NAME_LABEL];
const ANNOTATIONS = [
  ...[USER_ANNOTATION, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION, PRIORITY, QUEUE],
  COMPLETION_INDEX_ANNOTATION,
];
const CHANGES: readonly (readonly [string, object])[] = [
  ...LABELS.map((key) => [`the label ${key}`, { labels: { [key]: 'false' } }] as const),
  ...ANNOTATIONS.map((key) => [`the annotation ${key}`, { annotations: { [key]: '7' } }] as const),
  ['all labels', { labels: null }],
  ['all annotations', { annotations: null }],
];
const OWNED = ['another owner', { ownerReferences: [OWNER] }] as const;

const RBAC = 'rbac.authorization.k8s.io';
const roleOf = (name: string, user: string, ...resources: readonly string[]): readonly KubeObject[] => [
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name } },
    rules: [{ apiGroups: [''], resources, verbs: ['patch'] }],
  },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: RBAC, name: user }],
  },
];
const REPORTERS = [
  ...roleOf('writes-pods', 'writer-of-pods', 'pods/status'),
  ...roleOf('reports', 'virtual-kubelet', 'pods/status', 'nodes/status'),
  ...roleOf('collects', 'system:serviceaccount:kube-system:pod-garbage-collector', 'pods/status'),
];

describeCluster('a subresource', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });

  /** Users with no more than the rights of `REPORTERS`. */
  let reporters: Users;
  /** By the Node authorizer. */
  let kubelets: Users;
  beforeAll(async () => {
    await getCluster().apply(REPORTERS);
    reporters = usersOf(getCluster(), null);
    kubelets = usersOf(getCluster(), 'system:nodes');
  });
  afterAll(() => {
    reporters?.close();
    kubelets?.close();
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const at = ({ kind, metadata: { name } }: KubeObject, subresource: string) =>
      kind === 'Job'
        ? `/apis/batch/v1/namespaces/${namespace}/jobs/${name}/${subresource}`
        : `/api/v1/namespaces/${namespace}/pods/${name}/${subresource}`;
    let waiting: Record<'Job' | 'Pod', KubeObject>;
    beforeAll(async () => {
      waiting = {
        Job: await accepted(users.create(ALICE, namespace, job({}))),
        Pod: await accepted(users.create(ALICE, namespace, pod())),
      };
      const forged = { metadata: { annotations: { [USER_ANNOTATION]: 'root' } } };
      for (const object of Object.values(waiting))
        await getCluster().waitFor('the guard', async () => {
          const { body } = await users.send(ALICE, 'PATCH', `${at(object, 'status')}?dryRun=All`, forged);
          return body.message?.includes(DENIED);
        });
    });

    it.each([
      ...CHANGES.map((change) => ['Job', ...change] as const),
      ['Job', ...OWNED] as const,
      ...CHANGES.map((change) => ['Pod', ...change] as const),
    ])('the status of a %s cannot change %s', async (kind, _, metadata) => {
      const path = at(waiting[kind], 'status');
      await denied(users.send(ALICE, 'PATCH', path, { metadata }), DENIED);
    });

    it.each(['Job', 'Pod'] as const)('the status of a %s can change, with labels of others', async (kind) => {
      const condition = { type: 'Mine', status: 'True' };
      const patch = { metadata: { labels: { app: 'x' } }, status: { conditions: [condition] } };
      const { status } = await accepted(users.send(ALICE, 'PATCH', at(waiting[kind], 'status'), patch));
      expect(status).toMatchObject({ conditions: [condition] });
    });

    it.each(['Failed', 'Succeeded'])('a Pod is %s only for those who report for nodes', async (phase) => {
      const path = `${at(waiting.Pod, 'status')}?dryRun=All`;
      const end = (user: string) => reporters.send(user, 'PATCH', path, { status: { phase } });
      await denied(end('writer-of-pods'), 'FLUXQ_RESERVED: status.phase: ');
      for (const user of ['virtual-kubelet', 'system:serviceaccount:kube-system:pod-garbage-collector'])
        expect((await accepted(end(user))).status).toMatchObject({ phase });
      const ofKubelet = kubelets.send('system:node:node-0', 'PATCH', path, { status: { phase } });
      expect((await accepted(ofKubelet)).status).toMatchObject({ phase });
    });

    it('the owner of a Pod stays through its status', async () => {
      const patch = { metadata: { ownerReferences: [OWNER] } };
      const { metadata } = await accepted(users.send(ALICE, 'PATCH', at(waiting.Pod, 'status'), patch));
      expect(metadata.ownerReferences).toBeUndefined();
    });

    const binding = (name: string, metadata: object) => ({
      ...{ apiVersion: 'v1', kind: 'Binding', target: { kind: 'Node', name: 'node-0' } },
      metadata: { name, namespace, ...metadata },
    });
    it.each([
      ['the label of admission', { labels: { [ADMITTED_LABEL]: 'true' } }],
      ['a user', { annotations: { [USER_ANNOTATION]: 'root' } }],
      ['an assignment', { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' } }],
      ['an index', { annotations: { [COMPLETION_INDEX_ANNOTATION]: '0' } }],
    ])('a Binding cannot bring %s', async (_, metadata) => {
      const body = binding(waiting.Pod.metadata.name!, metadata);
      for (const path of [at(waiting.Pod, 'binding'), `/api/v1/namespaces/${namespace}/bindings`])
        await denied(users.send(ALICE, 'POST', path, body), DENIED);
    });

    it('a Binding leaves a gated Pod where it is', async () => {
      const { body } = await users.send(
        ALICE,
        'POST',
        at(waiting.Pod, 'binding'),
        binding(waiting.Pod.metadata.name!, {}),
      );
      expect(body.message).toContain('has non-empty .spec.schedulingGates');
    });
  });
});
