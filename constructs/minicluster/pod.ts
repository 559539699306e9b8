/** What the brokers' pods and the services' pod have in common. */

import { mapSorted, some } from './object';
import type { DefaultedSpec } from './schema';

/** Pod's half of Pod Security `restricted`; the user counts unless the spec names another. */
const RESTRICTED_USER = 1000;
const RESTRICTED = {
  fsGroup: RESTRICTED_USER,
  runAsGroup: RESTRICTED_USER,
  runAsNonRoot: true,
  runAsUser: RESTRICTED_USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

export interface Pulled {
  readonly imagePullSecret?: string;
}

/** Fields that are not said are undefined. @param pulled everything that has an image to pull */
export function basePod(spec: DefaultedSpec, pulled: readonly Pulled[]): Record<string, unknown> {
  const { pod } = spec;
  return {
    automountServiceAccountToken: pod.automountServiceAccountToken === true,
    dnsPolicy: pod.dnsPolicy ?? (pod.hostNetwork === true ? 'ClusterFirstWithHostNet' : undefined),
    // Variables of Services are settings to other programs: a Service named pmi sets PMI_PORT, which MPI reads.
    enableServiceLinks: false,
    hostIPC: pod.hostIPC,
    hostNetwork: pod.hostNetwork,
    hostPID: pod.hostPID,
    imagePullSecrets: pullSecrets(pulled),
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

function pullSecrets(pulled: readonly Pulled[]): { name: string }[] | undefined {
  const names = pulled.map(({ imagePullSecret }) => imagePullSecret).filter((name) => name !== undefined);
  return names.length === 0 ? undefined : [...new Set(names)].sort().map((name) => ({ name }));
}

function nodeSelector({ pod, flux }: DefaultedSpec): Record<string, string> | undefined {
  const { arch = '' } = flux;
  if (arch === '') return some(pod.nodeSelector ?? {});
  return { 'kubernetes.io/arch': ARCH[arch] ?? arch, ...pod.nodeSelector };
}

/** What people call it -> what nodes are labelled with. */
const ARCH: Readonly<Record<string, string>> = { arm: 'arm64', aarch64: 'arm64', x86_64: 'amd64' };

/** `pod.nodeAffinity`: all of the labels, each with one of its values. */
export function nodeAffinity({ pod }: DefaultedSpec): Record<string, unknown> | undefined {
  const expressions = mapSorted(pod.nodeAffinity, (key, values) => ({ key, operator: 'In', values }));
  if (expressions.length === 0) return undefined;
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: expressions }],
    },
  };
}
