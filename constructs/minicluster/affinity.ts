/** Affinity of the brokers' pods: they prefer one zone and different nodes, and may have to spread evenly. */
import { MINICLUSTER_LABEL } from '../api/labels';
import type { ClusterContext } from './context';
import { BROKER_LABEL } from './names';
import { omitEmpty } from './object';
import { nodeAffinity } from './pod';

export function affinity({ resource, spec }: ClusterContext): Record<string, unknown> | undefined {
  const { name } = resource.metadata;
  const { disableAffinity } = spec.network;
  return omitEmpty({
    nodeAffinity: nodeAffinity(spec),
    podAffinity: disableAffinity === true ? undefined : preferred(name, 'topology.kubernetes.io/zone'),
    podAntiAffinity: disableAffinity === true ? undefined : preferred(name, 'kubernetes.io/hostname'),
  });
}

/** A preference about the brokers' pods of the same cluster. */
function preferred(cluster: string, topologyKey: string): Record<string, unknown> {
  const labelSelector = { matchLabels: { [MINICLUSTER_LABEL]: cluster } };
  return {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: { labelSelector, topologyKey } },
    ],
  };
}

export function topologySpread({ resource, spec }: ClusterContext): unknown[] | undefined {
  return spec.pod.topologySpread?.map((constraint) => ({
    ...constraint,
    labelSelector: { matchLabels: { [BROKER_LABEL]: resource.metadata.name } },
  }));
}
