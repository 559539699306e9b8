/** Attacks with the controller's token. */
import { ASSIGNMENT_ANNOTATION, REPORT_AUDIENCE, STACK_NAMESPACE } from '../../constructs/api/labels';
import { type Act, ALPHA, type Attack, BETA, PLAIN, refusedTo } from './attack';
import {
  apply,
  container,
  create,
  deployment,
  job,
  type Made,
  ownedBy,
  patch,
  pathTo,
  ROOT,
  remove,
} from './objects';

const by = refusedTo('controller token');
/**
 * The guard that names the difference has a cache of its own; without it the object is only not marked. Before Kubernetes 1.36
 * an unknown owner is one whose turn it is not, and what exists is fixed.
 */
const DIFFERS = 'FLUXQ_MINICLUSTER_';
const UNKNOWN = DIFFERS;
const RESERVED = 'FLUXQ_RESERVED';
const RBAC = 'forbidden: User';

/** A Job of the MiniCluster `tame`, whose spec has one image and nothing else. */
const ofTame = (name: string, pod: object, refused = DIFFERS, more: object = {}, metadata: object = {}) =>
  by(name, create('Job', 'tame', { metadata: ownedBy('tame'), spec: job(pod, more, metadata) }), refused);
const withContainer = (more: object) => ({ containers: [container(more)] });

const CREATED: readonly Attack[] = [
  by(
    'a Deployment with the root of the node in kube-system',
    create('Deployment', 'x', { spec: deployment(ROOT) }, 'kube-system'),
    RESERVED,
  ),
  by('a Deployment without an owner', create('Deployment', 'x', { spec: deployment(ROOT) }), RESERVED),
  by(
    'a Deployment that claims a MiniCluster which does not exist',
    create('Deployment', 'ghost-services', {
      metadata: ownedBy('ghost', 'no-such-uid'),
      spec: deployment(ROOT),
    }),
    UNKNOWN,
  ),
  by(
    'a Deployment that brings the mark of admission with it',
    create('Deployment', 'ghost-services', {
      metadata: {
        ...ownedBy('ghost', 'no-such-uid'),
        annotations: { 'flux-framework.org/minicluster-uid': 'no-such-uid' },
      },
      spec: deployment(ROOT),
    }),
    UNKNOWN,
  ),
  by(
    'a Deployment of a MiniCluster of another namespace',
    create('Deployment', 'other-services', { metadata: ownedBy('other'), spec: deployment() }),
    UNKNOWN,
  ),
  by(
    'a Deployment whose owner has the right name and a wrong uid',
    create('Deployment', 'tame-services', { metadata: ownedBy('tame', 'no-such-uid'), spec: deployment() }),
    UNKNOWN,
  ),
  by(
    'a Deployment of a MiniCluster of a version that does not exist',
    create('Deployment', 'tame-services', {
      metadata: ownedBy('tame', '$tame', 'flux-framework.org/v9'),
      spec: deployment(),
    }),
    RESERVED,
  ),
  by(
    'a Deployment without the label of its MiniCluster',
    create('Deployment', 'tame-services', {
      metadata: { ...ownedBy('tame'), labels: {} },
      spec: deployment(ROOT),
    }),
    RESERVED,
  ),
  by(
    'a Deployment of a MiniCluster in the namespace of the stack',
    create('Deployment', 'tame-services', { metadata: ownedBy('tame'), spec: deployment() }, STACK_NAMESPACE),
    RESERVED,
  ),
  by(
    'a StatefulSet with volumes of its own',
    create('StatefulSet', 'tame', {
      metadata: ownedBy('tame'),
      spec: {
        ...deployment(),
        serviceName: 'x',
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }),
    RESERVED,
  ),
  by(
    'a Job under another name than its MiniCluster',
    create('Job', 'tame-2', { metadata: ownedBy('tame'), spec: job() }),
    RESERVED,
  ),
];

const COMPARED: readonly Attack[] = [
  ofTame('a Job with the root of the node', ROOT),
  ofTame('a Job with the path that only another MiniCluster has', {
    volumes: [{ name: 'scratch', hostPath: { path: '/scratch' } }],
  }),
  ofTame('a Job with the network of the node', { hostNetwork: true }),
  ofTame('a Job with the processes of the node', { hostPID: true }),
  ofTame('a Job with the memory of the node', { hostIPC: true }),
  ofTame('a Job with a port of the node', withContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })),
  ofTame('a privileged Job', withContainer({ securityContext: { privileged: true } })),
  ofTame(
    'a Job with a capability',
    withContainer({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
  ),
  ofTame('a Job without seccomp', { securityContext: { seccompProfile: { type: 'Unconfined' } } }),
  ofTame('a Job as another user of the file systems', { securityContext: { runAsUser: 1234 } }),
  ofTame('a Job with another image', withContainer({ image: 'evil' })),
  ofTame('a Job with another image in an init container', {
    initContainers: [{ name: 'first', image: 'evil' }],
  }),
  ofTame('a Job of another ServiceAccount', { serviceAccountName: 'builder' }),
  ofTame('a Job with the token of its ServiceAccount', { automountServiceAccountToken: true }),
  ofTame('a Job with the token of its ServiceAccount in a volume', {
    volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
  }),
  ofTame('a Job with a token for reports, which its MiniCluster does not send', {
    volumes: [
      {
        name: 't',
        projected: { sources: [{ serviceAccountToken: { path: 'token', audience: REPORT_AUDIENCE } }] },
      },
    ],
  }),
  ofTame('a Job with a Secret of the user', { volumes: [{ name: 's', secret: { secretName: 'private' } }] }),
  ofTame('a Job with a ConfigMap of the user', { volumes: [{ name: 's', configMap: { name: 'notes' } }] }),
  ofTame('a Job with a claim of the user', {
    volumes: [{ name: 's', persistentVolumeClaim: { claimName: 'home' } }],
  }),
  ofTame('a Job with a variable from a Secret', {
    ...withContainer({ env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'private', key: 'k' } } }] }),
  }),
  ofTame(
    'a Job with all variables of a Secret',
    withContainer({ envFrom: [{ secretRef: { name: 'private' } }] }),
  ),
  ofTame('a Job with credentials of a registry', { imagePullSecrets: [{ name: 'private' }] }),
  ofTame('a Job on the nodes of the control plane', { tolerations: [{ operator: 'Exists' }] }),
  ofTame('a Job that preempts everything', { priorityClassName: 'system-node-critical' }),
  ofTame('a Job of another scheduler', { schedulerName: 'mine' }),
  ofTame('a Job with more pods than its MiniCluster', {}, DIFFERS, { parallelism: 9, completions: 9 }),
  ofTame('a Job on a node of its choice', { nodeName: 'node-0' }, RESERVED),
  ofTame(
    'a Job that is granted already',
    {},
    RESERVED,
    {},
    {
      annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-0' },
    },
  ),
  by(
    'the root of the node for a Deployment whose MiniCluster was deleted a moment ago',
    patch('Deployment', 'gone-services', { spec: { template: { spec: ROOT } } }),
    UNKNOWN,
  ),
  by(
    'a ServiceAccount for a Deployment whose MiniCluster was deleted a moment ago',
    patch('Deployment', 'gone-services', { spec: { template: { spec: { serviceAccountName: 'builder' } } } }),
    UNKNOWN,
  ),
  by(
    'the control plane for the waiting Job of a MiniCluster',
    patch('Job', 'quiet', { spec: { template: { spec: { tolerations: [{ operator: 'Exists' }] } } } }),
    DIFFERS,
  ),
];

const service = (name: string, more: Made, metadata: object = ownedBy('tame')) =>
  create('Service', name, {
    metadata,
    spec: { ports: [{ port: 80 }], selector: { 'hpa-selector': 'tame' }, ...more },
  });
const secret = (type: string, namespace: string, name = 'tame-curve', metadata: object = ownedBy('tame')) =>
  create(
    'Secret',
    name,
    {
      metadata: { ...metadata, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type,
    },
    namespace,
  );
const TOKEN = 'kubernetes.io/service-account-token';

const SMALL: readonly Attack[] = [
  by('a Service that is reachable from outside', service('tame', { type: 'LoadBalancer' }), RESERVED),
  by('a Service with addresses of others', service('tame', { externalIPs: ['10.0.0.1'] }), RESERVED),
  by("a Service for another's pods", service('tame', { selector: { app: 'bank' } }), RESERVED),
  by('a Service under a name that others use', service('database', {}), DIFFERS),
  by('settings of kube-system', patch('ConfigMap', 'coredns', { data: { x: 'y' } }, 'kube-system'), RESERVED),
  by(
    'settings of the stack',
    patch('ConfigMap', 'stack-settings', { data: { x: 'y' } }, STACK_NAMESPACE),
    RESERVED,
  ),
  by('a ConfigMap of the user', patch('ConfigMap', 'notes', { data: { x: 'y' } }), RESERVED),
  by(
    'a ConfigMap of the user by taking it over',
    apply('ConfigMap', 'tame-notes', { metadata: ownedBy('tame'), data: { x: 'y' } }),
    RESERVED,
  ),
  by('a token of a ServiceAccount', secret(TOKEN, ALPHA), RESERVED),
  by('a token of a ServiceAccount of kube-system', secret(TOKEN, 'kube-system'), RESERVED),
  by('a Secret of another name', secret('Opaque', ALPHA, 'registry'), RESERVED),
  by('the Secrets of a namespace', { verb: 'GET', path: pathTo('Secret', ALPHA) }, RBAC),
  by('a Secret', { verb: 'GET', path: pathTo('Secret', ALPHA, 'private') }, RBAC),
];

const CHANGED: readonly Attack[] = [
  by(
    'another image of a waiting Job',
    patch('Job', 'waiting', { spec: { template: { metadata: { labels: { x: 'y' } } } } }),
    RESERVED,
  ),
  by('more pods of a waiting Job', patch('Job', 'waiting', { spec: { parallelism: 5 } }), RESERVED),
  by(
    'another label of a waiting Job',
    patch('Job', 'waiting', { metadata: { labels: { x: 'y' } } }),
    RESERVED,
  ),
  by(
    'another annotation of a waiting Job',
    patch('Job', 'waiting', { metadata: { annotations: { 'fluxqueue/user': 'root' } } }),
    RESERVED,
  ),
  by(
    'the start of a Job outside the queue',
    patch('Job', 'free', { spec: { suspend: false } }, PLAIN),
    RESERVED,
  ),
  by(
    'a Job by taking it over',
    apply('Job', 'waiting', { metadata: ownedBy('waiting', '$tame'), spec: job() }),
    RESERVED,
  ),
  by('another image of a gated Pod', image('gated'), RESERVED),
  by('another image of a Pod outside the queue', image('free', PLAIN), RESERVED),
  by(
    'another label of a gated Pod',
    patch('Pod', 'gated', { metadata: { labels: { app: 'bank' } } }),
    RESERVED,
  ),
  by(
    'a toleration of a gated Pod',
    edit('gated', { op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } }),
    RESERVED,
  ),
  by(
    "a gate of the Pod's user",
    edit('gated', { op: 'replace', path: '/spec/schedulingGates', value: [] }),
    RESERVED,
  ),
  by('the eviction of a Pod outside the queue', evict('free', PLAIN), RESERVED),
  by('the eviction of a Pod of kube-system', evict('system', 'kube-system'), RESERVED),
  by('a Service of the apiserver', remove('Service', 'kubernetes', 'default'), RESERVED),
  by('a Service of the user', remove('Service', 'mine'), RESERVED),
  by('a Deployment of the user', remove('Deployment', 'mine'), RESERVED),
  by('a MiniCluster of the user', remove('MiniCluster', 'tame'), RESERVED),
];

function edit(name: string, operation: object, namespace = ALPHA): Act {
  return { ...patch('Pod', name, [operation], namespace), type: 'application/json-patch+json' };
}

function image(name: string, namespace = ALPHA): Act {
  return edit(name, { op: 'replace', path: '/spec/containers/0/image', value: 'evil' }, namespace);
}

function evict(name: string, namespace: string): Act {
  return {
    verb: 'POST',
    path: pathTo('Pod', namespace, name, 'eviction'),
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
  };
}

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MISSING: readonly Attack[] = [
  by('a Job that is deleted', remove('Job', 'waiting'), RBAC),
  by('a MiniCluster', create('MiniCluster', 'x', { spec: { containers: [{}] } }), RBAC),
  by('another spec of a MiniCluster', patch('MiniCluster', 'tame', { spec: { size: 2 } }), RESERVED),
  by(
    'another annotation of a MiniCluster',
    patch('MiniCluster', 'tame', { metadata: { annotations: { x: 'y' } } }),
    RESERVED,
  ),
  by('a larger quota', patch('FluxSetup', 'team', { spec: {} }, BETA), RBAC),
  by(
    'a command in a Pod',
    { verb: 'POST', path: `${pathTo('Pod', ALPHA, 'gated', 'exec')}`, body: {} },
    RBAC,
  ),
  by(
    'another policy',
    {
      verb: 'PATCH',
      path: `${ADMISSION}/validatingadmissionpolicies/fluxqueue-guard-controller`,
      body: { spec: {} },
    },
    RBAC,
  ),
  by(
    'more rights',
    { verb: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', body: {} },
    RBAC,
  ),
  by(
    'another node',
    { verb: 'PATCH', path: '/api/v1/nodes/node-0', body: { spec: { unschedulable: true } } },
    RBAC,
  ),
];

export const CONTROLLER_ATTACKS: readonly Attack[] = [
  ...CREATED,
  ...COMPARED,
  ...SMALL,
  ...CHANGED,
  ...MISSING,
];
