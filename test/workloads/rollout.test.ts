import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { deploymentsOf, olderPodsText } from '../../runtime/workloads/rollout';

const pod = (owner: string, hash: string, { kind = 'ReplicaSet', admitted = 'true' } = {}) =>
  ({
    metadata: {
      name: `${owner}-x`,
      namespace: 'science',
      labels: { [ADMITTED_LABEL]: admitted, 'pod-template-hash': hash },
      ownerReferences: [{ kind, name: owner, controller: true }],
    },
  }) as unknown as Pod;

test('the Deployment of a pod is known by the name of its ReplicaSet', () => {
  expect(deploymentsOf(pod('web-app-6d4f', '6d4f'))).toEqual(['science/web-app']);
  // A ReplicaSet of its own, another owner, and a pod outside the queue.
  expect(deploymentsOf(pod('web', '6d4f'))).toEqual([]);
  expect(deploymentsOf(pod('web-6d4f', '6d4f', { kind: 'StatefulSet' }))).toEqual([]);
  expect(deploymentsOf(pod('web-6d4f', '6d4f', { admitted: 'false' }))).toEqual([]);
});

test('a new pod is told of older ones of its Deployment that use nodes', () => {
  const fresh = pod('web-2', '2');
  expect(olderPodsText(fresh, [pod('web-2', '2')])).toBeUndefined();
  expect(olderPodsText(fresh, [])).toBeUndefined();
  expect(olderPodsText(fresh, [pod('web-2', '2'), pod('web-1', '1')])).toMatch(
    /^Deployment web keeps older pods until new ones run\. .* maxUnavailable of at least 1 or type Recreate/,
  );
  expect(olderPodsText(pod('train', '2'), [pod('web-1', '1')])).toBeUndefined();
});
