/** The nodes that kwok simulates. */
import type { ApiClient, KubeObject } from './api';
import { waitFor } from './wait';

export interface NodeShape {
  /** Quantity of cores. @default '16' */
  readonly cpu?: string;
  /** Quantity of memory. @default '64Gi' */
  readonly memory?: string;
  /** Number of nvidia.com/gpu. @default 0 */
  readonly gpus?: number;
  /** Maximum number of pods. @default 110 */
  readonly pods?: number;
  /** Additional resources, by name. @default - none */
  readonly resources?: Readonly<Record<string, string>>;
  /** Additional labels. @default - type=kwok and the usual kubernetes.io labels only */
  readonly labels?: Readonly<Record<string, string>>;
  /** @default - none */
  readonly taints?: readonly { key: string; value?: string; effect: string }[];
}

/** Saturates two cores; more requests only queue in the apiserver. */
const PARALLEL_CREATES = 16;

/** Creates the nodes and waits until the scheduler can use all of them. */
export async function createNodes(
  api: ApiClient,
  nodes: readonly { readonly name: string; readonly shape: NodeShape }[],
  signal: AbortSignal,
): Promise<void> {
  const pending = [...nodes];
  const worker = async () => {
    for (let node = pending.shift(); node !== undefined; node = pending.shift()) {
      await api.request('POST', '/api/v1/nodes', nodeObject(node.name, node.shape));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CREATES }, worker));
  const wanted = new Set(nodes.map(({ name }) => name));
  await waitFor(
    `${nodes.length} nodes to be ready`,
    async () => {
      const list = await api.get<{ items: KubeObject[] }>('/api/v1/nodes?labelSelector=type%3Dkwok');
      const usable = list.items.filter((node) => wanted.has(node.metadata.name ?? '') && isUsable(node));
      return usable.length === nodes.length;
    },
    { timeoutMs: 120_000 + nodes.length * 200, everyMs: nodes.length > 100 ? 500 : 100, signal },
  );
}

function isUsable(node: KubeObject): boolean {
  const { conditions = [] } = node.status as { conditions?: { type: string; status: string }[] };
  const { taints = [] } = node.spec as { taints?: { key: string }[] };
  const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return ready && !taints.some(({ key }) => key.startsWith('node.kubernetes.io/'));
}

function nodeObject(name: string, shape: NodeShape): KubeObject {
  const { cpu = '16', memory = '64Gi', gpus = 0, pods = 110 } = shape;
  const resources = {
    cpu,
    memory,
    pods: String(pods),
    ...(gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {}),
    ...shape.resources,
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        type: 'kwok',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...shape.labels,
      },
    },
    spec: { ...(shape.taints === undefined ? {} : { taints: shape.taints }) },
    status: {
      capacity: resources,
      allocatable: resources,
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        kubeletVersion: 'kwok',
        // The schema requires these fields.
        bootID: '',
        containerRuntimeVersion: '',
        kernelVersion: '',
        kubeProxyVersion: '',
        machineID: '',
        osImage: '',
        systemUUID: '',
      },
    },
  };
}
