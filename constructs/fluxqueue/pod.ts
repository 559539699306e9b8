/** What all pods of the stack have in common: restricted Pod Security, probes, resources, spread, and who may call the apiserver. */
import { k8s } from 'cdk8s-plus-28';
import { type Component, selectorLabels } from '../metadata';

/** The runtime runs as any user; this is the one that minimal images call nonroot. */
export const RUNTIME_USER = 65532;

/** Container's half of Pod Security `restricted`, and a read-only root on top. */
export const RESTRICTED: k8s.SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** Pod's half of Pod Security `restricted`. */
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
 * The kubelet sets variables for every Service of the namespace unless told not to: names that others choose, beside
 * settings of ours. Not even one named `kubernetes` can then stand in for the apiserver.
 */
export const NO_SERVICE_LINKS = { enableServiceLinks: false } as const;

export interface ResourceProps {
  readonly cpu: string;
  readonly memory: string;
  readonly memoryLimit: string;
}

/**
 * No cpu limit: throttling a scheduler or an admission webhook makes the whole cluster wait. Requests are small, so that
 * all of them lie in what a small node has above its last whole core, and not zero: docs/decisions/0018-small-nodes.md.
 */
export function resources({ cpu, memory, memoryLimit }: ResourceProps): k8s.ResourceRequirements {
  return {
    requests: { cpu: k8s.Quantity.fromString(cpu), memory: k8s.Quantity.fromString(memory) },
    limits: { memory: k8s.Quantity.fromString(memoryLimit) },
  };
}

/** /healthz restarts it, /readyz only takes it out of its Service. */
export function httpProbes(port: number, scheme = 'HTTP', ready = '/readyz') {
  const get = (path: string) => ({ path, port: k8s.IntOrString.fromNumber(port), scheme });
  return {
    startupProbe: { httpGet: get('/healthz'), periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: get('/healthz'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { httpGet: get(ready), periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 },
  } satisfies Partial<k8s.Container>;
}

/** Replicas on different nodes where there are any; a one-node cluster still gets all of them. */
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
 * The ServiceAccount's token for one container of a pod (the pod itself has
 * automountServiceAccountToken: false), so that Postgres and Fluxion beside it have none.
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
