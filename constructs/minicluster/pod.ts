/** Fields that the brokers' pods and the services' pod share. */
import { mapSorted, omitEmpty } from './object';
import type { DefaultedSpec } from './schema';

/** The rules of Pod Security `restricted` for pods; fields of the spec override them. */
const RESTRICTED_USER = 1000;
const RESTRICTED = {
  fsGroup: RESTRICTED_USER,
  runAsGroup: RESTRICTED_USER,
  runAsNonRoot: true,
  runAsUser: RESTRICTED_USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Whatever runs an image that may need credentials to pull. */
export interface PullsImage {
  readonly imagePullSecret?: string;
}

/**
 * Renders the fields that both pods share; fields without a value are undefined.
 * @param images the containers of the pod
 */
export function basePod(spec: DefaultedSpec, images: readonly PullsImage[]): Record<string, unknown> {
  const { pod } = spec;
  return {
    automountServiceAccountToken: pod.automountServiceAccountToken === true,
    dnsPolicy: pod.dnsPolicy ?? (pod.hostNetwork === true ? 'ClusterFirstWithHostNet' : undefined),
    // Variables of Services are settings to other programs: a Service named pmi sets PMI_PORT, which MPI reads.
    enableServiceLinks: false,
    hostIPC: pod.hostIPC,
    hostNetwork: pod.hostNetwork,
    hostPID: pod.hostPID,
    imagePullSecrets: pullSecrets(images),
    nodeSelector: nodeSelector(spec),
    priorityClassName: pod.priorityClassName,
    resourceClaims: pod.resourceClaims,
    resources: pod.resources === undefined ? undefined : { limits: pod.resources, requests: pod.resources },
    runtimeClassName: pod.runtimeClassName,
    schedulerName: pod.schedulerName,
    securityContext:
      pod.restricted === true ? { ...RESTRICTED, ...pod.securityContext } : pod.securityContext,
    serviceAccountName: pod.serviceAccountName,
    tolerations: pod.tolerations,
  };
}

function pullSecrets(images: readonly PullsImage[]): { name: string }[] | undefined {
  const names = images.map(({ imagePullSecret }) => imagePullSecret).filter((name) => name !== undefined);
  return names.length === 0 ? undefined : [...new Set(names)].sort().map((name) => ({ name }));
}

function nodeSelector({ pod, flux }: DefaultedSpec): Record<string, string> | undefined {
  const { arch = '' } = flux;
  if (arch === '') return omitEmpty(pod.nodeSelector ?? {});
  return { 'kubernetes.io/arch': ARCH[arch] ?? arch, ...pod.nodeSelector };
}

/** Common name of an architecture -> value of the label `kubernetes.io/arch`. */
const ARCH: Readonly<Record<string, string>> = { arm: 'arm64', aarch64: 'arm64', x86_64: 'amd64' };

/** Requires all labels of `pod.nodeAffinity`, each with one of its values. */
export function nodeAffinity({ pod }: DefaultedSpec): Record<string, unknown> | undefined {
  const expressions = mapSorted(pod.nodeAffinity, (key, values) => ({ key, operator: 'In', values }));
  if (expressions.length === 0) return undefined;
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: expressions }],
    },
  };
}
