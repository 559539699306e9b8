/**
 * The GPUs that brokers get by device claims (DRA): the devices of their requests whose DeviceClass has gpu in its name,
 * as in `gpu.nvidia.com`. The renderer knows only the names of claims, so the controller reads the claims and sets
 * `flux.gpus`, unless its user did.
 */
import { gpusOfResources } from '../../constructs/minicluster/cores';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { resourceClaims, resourceClaimTemplates } from '../kubernetes/paths';
import type { MiniCluster } from './resource';

export interface DeviceClaimState {
  /** The GPUs of this generation. */
  claimed?: { readonly generation: number; readonly gpus: number };
}

interface DeviceRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

interface Claim {
  readonly devices?: {
    readonly requests?: readonly {
      readonly name: string;
      readonly exactly?: DeviceRequest;
      /** Alternatives in order of preference. */
      readonly firstAvailable?: readonly DeviceRequest[];
    }[];
  };
}

/** Returns the cluster with the number of GPUs of its claims, or unchanged while one of them does not exist. */
export async function withClaimedGpus(
  client: KubernetesClient,
  cluster: MiniCluster,
  state: DeviceClaimState,
): Promise<MiniCluster> {
  const { spec, metadata } = cluster;
  const { resources } = brokerContainer(spec) ?? {};
  const names = resources?.claims ?? [];
  if (names.length === 0 || spec.flux?.gpus !== undefined) return cluster;
  const generation = metadata.generation ?? 0;
  if (state.claimed?.generation !== generation) {
    let gpus = gpusOfResources(resources ?? {});
    for (const { name, request } of names) {
      const claim = await claimOf(client, cluster, name);
      if (claim === undefined) return cluster;
      gpus += gpusOfClaim(claim, request);
    }
    state.claimed = { generation, gpus };
  }
  return { ...cluster, spec: { ...spec, flux: { ...spec.flux, gpus: state.claimed.gpus } } };
}

function brokerContainer({ containers }: MiniClusterSpec) {
  return containers.length === 1 ? containers[0] : containers.find(({ runFlux }) => runFlux === true);
}

async function claimOf(
  client: KubernetesClient,
  cluster: MiniCluster,
  name: string,
): Promise<Claim | undefined> {
  const { namespace } = cluster.metadata;
  const entry = cluster.spec.pod?.resourceClaims?.find((each) => each.name === name);
  const { resourceClaimName: claim, resourceClaimTemplateName: template } = entry ?? {};
  try {
    if (claim !== undefined)
      return (await client.get<{ spec: Claim }>(resourceClaims(namespace, claim))).spec;
    if (template === undefined) return undefined;
    const path = resourceClaimTemplates(namespace, template);
    return (await client.get<{ spec: { spec: Claim } }>(path)).spec.spec;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** @param only the name of the one request that the container uses; all of them by default */
function gpusOfClaim({ devices }: Claim, only: string | undefined): number {
  const counts = (devices?.requests ?? [])
    .filter(({ name }) => only === undefined || only === name || only.startsWith(`${name}/`))
    // Brokers of one MiniCluster offer the same number, which each of the alternatives must have.
    .map(({ exactly, firstAvailable = [] }) =>
      Math.min(...(exactly === undefined ? firstAvailable : [exactly]).map(gpusOfRequest)),
    );
  return counts.filter(Number.isFinite).reduce((sum, count) => sum + count, 0);
}

/** A request for all devices of a node is for at least one. */
function gpusOfRequest({ deviceClassName = '', allocationMode, count = 1 }: DeviceRequest): number {
  if (!/gpu/i.test(deviceClassName)) return 0;
  return allocationMode === 'All' ? 1 : count;
}
