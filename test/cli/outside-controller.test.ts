import { refuseOutsideController } from '../../runtime/cli/outside-controller';
import type { Lease } from '../../runtime/kubernetes/types';
import { type FakeCluster, fakeContext } from './doctor/fake-context';
import { metadata, stackPod } from './doctor/objects';

const PODS = '/api/v1/namespaces/fluxqueue-system/pods';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/fluxqueue-system/leases/fluxqueue-controller';
const POD = stackPod('controller-1', 'controller');

const held = (holderIdentity: string, resourceVersion = '1'): Lease => ({
  metadata: metadata('fluxqueue-controller', { resourceVersion }),
  spec: { holderIdentity, leaseDurationSeconds: 15 },
});

const refusal = (objects: FakeCluster, renewal?: Lease) => {
  const { reader, namespace } = fakeContext(objects, renewal === undefined ? {} : { renewal });
  return refuseOutsideController(reader.client, namespace);
};

test('refuses while a controller that is no pod of the stack renews the Lease', async () => {
  await expect(refusal({ [LEASE]: held('laptop__9f'), [PODS]: [] }, held('laptop__9f', '2'))).rejects.toThrow(
    'FLUXQ_CONTROLLER_RUNS: the controller on laptop leads and is no pod of namespace fluxqueue-system: it would suspend again what uninstall starts; stop that controller, then run this command again',
  );
});

test.each<[string, FakeCluster, Lease | undefined]>([
  [
    'a pod of the stack leads',
    { [LEASE]: held(`controller-1_${POD.metadata.uid}_9f`), [PODS]: [POD] },
    held(`controller-1_${POD.metadata.uid}_9f`, '2'),
  ],
  ['nobody renews the Lease', { [LEASE]: held('laptop__9f'), [PODS]: [] }, undefined],
  ['the Lease was released', { [LEASE]: held(''), [PODS]: [] }, undefined],
  ['no controller has ever led', { [PODS]: [] }, undefined],
])('goes on where %s', async (_, objects, renewal) => {
  await expect(refusal(objects, renewal)).resolves.toBeUndefined();
});
