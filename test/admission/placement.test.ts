// Own cluster: pods are placed by kube-scheduler, without the stack.
/** A released Job runs on exactly its nodes in both forms, with the real Job controller and scheduler on kwok nodes. */
import { ASSIGNMENT_ANNOTATION } from '../../constructs/api/labels';
import { encodeAssignment, nodesOf } from '../../runtime/workloads/assignment';
import type { KubeObject } from '../cluster/api';
import { describeOwnCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { FORMS, useForms } from './forms';
import { ALICE, CONTROLLER, type Users } from './users';

interface PodObject extends KubeObject {
  spec: { nodeName?: string };
}

describeOwnCluster(
  'a released Job',
  (getCluster) => {
    let users: Users;
    useForms(getCluster, (made) => {
      users = made;
    });

    const podsOf = async (namespace: string, name: string): Promise<PodObject[]> => {
      const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=batch.kubernetes.io/job-name%3D${name}`;
      return (await getCluster().get<{ items: PodObject[] }>(path)).items;
    };

    it.each([...FORMS])('runs on the nodes of its assignment (%s)', async (namespace) => {
      const parts = [
        { node: 'node-2', pods: 3 },
        { node: 'node-0', pods: 3 },
        { node: 'node-3', pods: 1 },
      ];
      const spec = { completions: 7, parallelism: 7, completionMode: 'Indexed' };
      const { body } = await users.create(ALICE, namespace, job(spec));
      const name = body.metadata.name as string;
      const assignment = encodeAssignment(parts);
      const template = { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: assignment } } };
      const reply = await users.patch(CONTROLLER, namespace, body, { spec: { suspend: false, template } });
      expect(reply.status).toBe(200);

      const pods = await getCluster().waitFor('seven bound pods', async () => {
        const found = await podsOf(namespace, name);
        return found.length === 7 && found.every(({ spec: { nodeName } }) => nodeName) ? found : undefined;
      });
      const expected = nodesOf(assignment).flatMap(({ node, pods: count }) =>
        Array<string>(count).fill(node),
      );
      const placed = pods.map(({ metadata, spec: { nodeName } }) => ({
        index: Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index']),
        node: nodeName,
      }));
      expect(placed.sort((a, b) => a.index - b.index)).toEqual(
        expected.map((node, index) => ({ index, node })),
      );
    });
  },
  { nodes: 4 },
);
