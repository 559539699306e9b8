import type { PodWait } from '../../runtime/workloads/pod-wait';
import { causeOfRefusal, causeOfWait } from '../../runtime/workloads/requeue-cause';

const wait = (cause: PodWait['cause'], reason: string, message = reason): PodWait => ({
  cause,
  reason,
  message,
  pod: 'p',
  uid: 'p',
  node: undefined,
  isBound: false,
});

test.each<[string, PodWait]>([
  ['an image that cannot be pulled', wait('starting', 'ImagePullBackOff')],
  ['an image name that is none', wait('starting', 'InvalidImageName')],
  ['a Secret that is missing', wait('starting', 'CreateContainerConfigError', 'secret "key" not found')],
  ['containers that nobody creates', wait('starting', 'ContainerCreating')],
  ['a ConfigMap that is missing', wait('starting', 'FailedMount', 'configmap "a" not found')],
  [
    'a RuntimeClass that its node does not have',
    wait('starting', 'FailedCreatePodSandBox', 'failed to get sandbox runtime: no runtime for "kata"'),
  ],
  ['volumes that are not bound', wait('volumes', 'VolumesUnbound')],
  ['a resource claim that is missing', wait('claims', 'ResourceClaimMissing')],
  [
    'a claim that kube-scheduler misses',
    wait('unschedulable', 'Unschedulable', 'persistentvolumeclaim "a" not found'),
  ],
])('%s counts towards the requeue limit', (_, given) => {
  expect(causeOfWait(given)).toBe('failure');
});

test.each<[string, PodWait]>([
  [
    'a gate of another controller',
    wait('gated', 'SchedulingGated', 'waiting for scheduling gate example.com/data'),
  ],
  [
    'room that others have taken',
    wait('unschedulable', 'Unschedulable', '0/3 nodes are available: 1 Insufficient cpu'),
  ],
  ['a node that was lost', wait('unschedulable', 'NodeLost', 'node node-1 was lost')],
  ['a node that is not ready', wait('unschedulable', 'NodeNotReady', 'node node-1 is not ready')],
  [
    'a taint',
    wait('unschedulable', 'Unschedulable', '0/3 nodes are available: 1 node(s) had untolerated taint'),
  ],
  [
    'a node whose network is broken',
    wait('starting', 'FailedCreatePodSandBox', 'plugin type="cilium" failed'),
  ],
  ['a node whose network is not ready', wait('starting', 'NetworkNotReady', 'cni config uninitialized')],
  ['a scheduler of others that says nothing', wait('silent', 'Pending', 'waiting for volume-scheduler')],
  ['a scheduler that does not answer', wait('unschedulable', 'SchedulerMissing')],
])('%s does not count towards the requeue limit', (_, given) => {
  expect(causeOfWait(given)).toBe('cluster');
});

test.each([
  [
    'pods "a-0" is forbidden: exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3',
    'failure',
  ],
  ['pods "a-0" is forbidden: violates PodSecurity "restricted:latest": privileged', 'failure'],
  [
    'pods "a-0" is forbidden: error looking up service account science/robot: serviceaccount "robot" not found',
    'failure',
  ],
  ['pods "a-0" is forbidden: maximum cpu usage per Container is 500m, but limit is 2', 'failure'],
  ['Pod "a-0" is invalid: spec.containers[0].image: Required value', 'failure'],
  [
    `pods "a-0" is forbidden: ValidatingAdmissionPolicy 'fluxqueue-guard-pod-settings' with binding 'fluxqueue-guard-pod-settings' denied request: FLUXQ_RESERVED: metadata.annotations["kubernetes.io/config.mirror"]: can only be set by a kubelet; remove it`,
    'failure',
  ],
  [
    'admission webhook "pods.fluxqueue" denied the request: FLUXQ_ADMISSION_FAILED: admission failed for this object',
    'cluster',
  ],
  [
    'Internal error occurred: failed calling webhook "pods.fluxqueue": failed to call webhook: Post "https://a.b.svc:443/": dial tcp 10.0.0.1:443: connect: connection refused',
    'cluster',
  ],
  ['Internal error occurred: failed calling webhook "a": context deadline exceeded', 'cluster'],
  ['failed to call: unexpected EOF', 'cluster'],
  ['pods "geofold-etcdserver-x" is forbidden: exceeded quota: small, requested: pods=1', 'failure'],
  ['etcdserver: request timed out', 'cluster'],
  ['pods "a-0" is forbidden: not yet ready to handle request', 'cluster'],
  ['admission webhook "freeze.example.com" denied the request: no changes today', 'cluster'],
  [
    "pods \"a-0\" is forbidden: ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: no changes today",
    'cluster',
  ],
])('"%s" is a cause of the kind %s', (sentence, cause) => {
  expect(causeOfRefusal(sentence)).toBe(cause);
});
