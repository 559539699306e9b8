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

const pull = (told: string | undefined, reason = 'ImagePullBackOff'): PodWait => ({
  ...wait('starting', reason, `${reason}: tools:9`),
  told,
});

test.each<[string, PodWait]>([
  [
    'an image that does not exist',
    pull(
      'Back-off pulling image "tools:9": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/tools:9": failed to resolve reference "docker.io/library/tools:9": docker.io/library/tools:9: not found',
    ),
  ],
  [
    'an image that is not permitted',
    pull(
      'failed to resolve reference "docker.io/team/tools:9": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      'ErrImagePull',
    ),
  ],
  ['an image for which it has no password', pull('unexpected status: 401 Unauthorized', 'ErrImagePull')],
  ['an image name that is none', wait('starting', 'InvalidImageName')],
  ['an image that is never pulled', pull(undefined, 'ErrImageNeverPull')],
  ['a Secret that is missing', wait('starting', 'CreateContainerConfigError', 'secret "key" not found')],
  [
    'a command that does not exist',
    wait('starting', 'RunContainerError', 'exec: "trian": executable file not found'),
  ],
  ['a ConfigMap that is missing', wait('starting', 'FailedMount', 'configmap "a" not found')],
  [
    'a key that is missing',
    wait('starting', 'FailedMount', 'references non-existent config key: train.yaml'),
  ],
  [
    'a ServiceAccount that was deleted',
    wait('starting', 'FailedMount', 'failed to fetch token: serviceaccounts "robot" not found'),
  ],
  [
    'a RuntimeClass that its node does not have',
    wait('starting', 'FailedCreatePodSandBox', 'failed to get sandbox runtime: no runtime for "kata"'),
  ],
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
  ['volumes that are not bound', wait('volumes', 'VolumesUnbound')],
  [
    'a claim whose provisioner does not answer',
    wait(
      'unschedulable',
      'SchedulerError',
      'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    ),
  ],
  ['containers that nobody creates, without a word', wait('starting', 'ContainerCreating')],
  ['an image of which nothing more is known', pull(undefined)],
  [
    'a registry that does not answer',
    pull('Back-off pulling image busybox: ErrImagePull: dial tcp 1.2.3.4:443: connect: connection refused'),
  ],
  ['a registry without a name server', pull('dial tcp: lookup docker.io: no such host', 'ErrImagePull')],
  [
    'a registry that fails',
    pull('unexpected status from HEAD request to https://docker.io/v2/: 503 Service Unavailable: not found'),
  ],
  [
    'a registry that has enough of it',
    pull('429 Too Many Requests: toomanyrequests: rate limit', 'ErrImagePull'),
  ],
  [
    'a token that nobody gives',
    wait(
      'starting',
      'FailedMount',
      'MountVolume.SetUp failed for volume "kube-api-access-x": failed to fetch token: Post "https://10.0.0.1/api": dial tcp: connection refused',
    ),
  ],
  [
    'a volume that is not attached',
    wait(
      'starting',
      'FailedAttachVolume',
      'AttachVolume.Attach failed for volume "pvc-1": rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    ),
  ],
  [
    'a ConfigMap that the kubelet has not read yet',
    wait(
      'starting',
      'CreateContainerConfigError',
      'failed to sync configmap cache: timed out waiting for the condition',
    ),
  ],
  [
    'the ConfigMap that Kubernetes makes in each namespace',
    wait('starting', 'FailedMount', 'configmap "kube-root-ca.crt" not found'),
  ],
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
  [
    'pods is forbidden: User "system:serviceaccount:kube-system:job-controller" cannot create pods',
    'cluster',
  ],
  ['the server is currently looking for its keys', 'cluster'],
  ['runtimeclasses.node.k8s.io "kata" not found', 'failure'],
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
