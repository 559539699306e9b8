/** Common parts of all pods of the stack: restricted Pod Security, probes, resources, topology spread and API access. */
import { k8s } from 'cdk8s-plus-28';
import { type Component, selectorLabels } from '../metadata';

/** User of the runtime, which can run as any user; minimal images have this one as `nonroot`. */
export const RUNTIME_USER = 65532;

/** Container fields of Pod Security `restricted`, and a read-only root file system. */
export const RESTRICTED: k8s.SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** Pod fields of Pod Security `restricted`. */
export function restrictedPod(user: number): k8s.PodSecurityContext {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/**
 * By default the kubelet sets environment variables for every Service of the namespace, and users choose their names.
 * Without service links they cannot collide with settings, and a Service `kubernetes` cannot replace the apiserver.
 */
export const NO_SERVICE_LINKS = { enableServiceLinks: false } as const;

export interface ResourceProps {
  readonly cpu: string;
  readonly memory: string;
  readonly memoryLimit: string;
}

/**
 * There is no cpu limit, because a throttled scheduler or admission webhook delays the whole cluster. Requests are small,
 * so that together they fit into the fraction of a small node above its last whole core, and not 0; see
 * docs/decisions/0018-small-nodes.md.
 */
export function resources({ cpu, memory, memoryLimit }: ResourceProps): k8s.ResourceRequirements {
  return {
    requests: { cpu: k8s.Quantity.fromString(cpu), memory: k8s.Quantity.fromString(memory) },
    limits: { memory: k8s.Quantity.fromString(memoryLimit) },
  };
}

/**
 * A failing /healthz restarts the container; a failing /readyz only removes the pod from its Service. The kubelet looks
 * every second at what is starting or not Ready yet, because rollouts and users wait for these answers.
 */
export function httpProbes(port: number, scheme = 'HTTP', ready = '/readyz') {
  const get = (path: string) => ({ path, port: k8s.IntOrString.fromNumber(port), scheme });
  return {
    startupProbe: { httpGet: get('/healthz'), periodSeconds: 1, failureThreshold: 60 },
    livenessProbe: { httpGet: get('/healthz'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { httpGet: get(ready), periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 3 },
  } satisfies Partial<k8s.Container>;
}

/** Prefers different nodes for the replicas; a cluster with one node still runs all of them. */
export function spread(component: Component): k8s.TopologySpreadConstraint[] {
  return [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: selectorLabels(component) },
    },
  ];
}

/**
 * Token of the ServiceAccount for one container. The pods have automountServiceAccountToken: false, so that Postgres and
 * Fluxion get no token.
 */
export const API_ACCESS_VOLUME: k8s.Volume = {
  name: 'api-access',
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardApi: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

export const API_ACCESS_MOUNT: k8s.VolumeMount = {
  name: API_ACCESS_VOLUME.name,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  readOnly: true,
};
