/** Where the brokers' pods like to be: in one zone, on different nodes; and how evenly they must spread. */
import { MINICLUSTER_LABEL } from '../names';
import { BROKER_LABEL } from './names';
import type { Parts } from './parts';
import { nodeAffinity } from './pod';
import { given } from './tidy';

export function affinity({ resource, spec }: Parts): Record<string, unknown> | undefined {
  const near = (topologyKey: string) => ({
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          labelSelector: { matchLabels: { [MINICLUSTER_LABEL]: resource.metadata.name } },
          topologyKey,
        },
      },
    ],
  });
  const preferences =
    spec.network.disableAffinity === true
      ? {}
      : {
          podAffinity: near('topology.kubernetes.io/zone'),
          podAntiAffinity: near('kubernetes.io/hostname'),
        };
  const all = given({ nodeAffinity: nodeAffinity(spec), ...preferences });
  return Object.keys(all).length === 0 ? undefined : all;
}

export function topologySpread({ resource, spec }: Parts): unknown[] | undefined {
  return spec.pod.topologySpread?.map((constraint) => ({
    ...constraint,
    labelSelector: { matchLabels: { [BROKER_LABEL]: resource.metadata.name } },
  }));
}
