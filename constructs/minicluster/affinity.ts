/** Where the brokers' pods like to be: in one zone, on different nodes; and how evenly they must spread. */
import { MINICLUSTER_LABEL } from '../api/labels';
import type { Parts } from './context';
import { BROKER_LABEL } from './names';
import { some } from './object';
import { nodeAffinity } from './pod';

export function affinity({ resource, spec }: Parts): Record<string, unknown> | undefined {
  const { name } = resource.metadata;
  const anywhere = spec.network.disableAffinity === true;
  return some({
    nodeAffinity: nodeAffinity(spec),
    podAffinity: anywhere ? undefined : near(name, 'topology.kubernetes.io/zone'),
    podAntiAffinity: anywhere ? undefined : near(name, 'kubernetes.io/hostname'),
  });
}

function near(cluster: string, topologyKey: string): Record<string, unknown> {
  const labelSelector = { matchLabels: { [MINICLUSTER_LABEL]: cluster } };
  return {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: { labelSelector, topologyKey } },
    ],
  };
}

export function topologySpread({ resource, spec }: Parts): unknown[] | undefined {
  return spec.pod.topologySpread?.map((constraint) => ({
    ...constraint,
    labelSelector: { matchLabels: { [BROKER_LABEL]: resource.metadata.name } },
  }));
}
