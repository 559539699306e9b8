/**
 * The cluster and the tables of the memory benchmark: every answer is parsed from JSON text, as from an apiserver and from
 * Postgres, and nothing is kept here. So the heap of the process is that of the controller.
 */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Queue } from '../../runtime/queue/store';
import type { WaitUpdate, WorkloadRow } from '../../runtime/queue/workload';
import { benchFluxJob, benchJob, benchPod, benchRow, hog, NODES, WAITS } from './memory-objects';
import { node } from './queue-cluster';

export interface MemoryCluster {
  /** Jobs that wait. */
  readonly jobs: number;
  /** Pods outside the queue. */
  readonly pods: number;
  /** Pods of DaemonSets. */
  readonly agents: number;
}

const wire = <T>(object: unknown): T => JSON.parse(JSON.stringify(object)) as T;

type Items = Readonly<Record<string, { readonly count: number; readonly item: (index: number) => object }>>;

function itemsOf({ jobs, pods, agents }: MemoryCluster): Items {
  return {
    nodes: { count: NODES, item: (i) => node(`node-${i}`) },
    pods: {
      count: NODES + pods + agents,
      item: (i) => (i < NODES ? hog(i) : benchPod(i - NODES, i >= NODES + pods)),
    },
    jobs: { count: jobs, item: benchJob },
    fluxjobs: { count: jobs, item: benchFluxJob },
  };
}

interface ListedPart {
  readonly labelSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
}

/** Lists these objects; watches send nothing, and writes are accepted. */
export function memoryClient(cluster: MemoryCluster, onWrite: (path: string) => void): KubernetesClient {
  const items = itemsOf(cluster);
  const written = async (path: string) => {
    onWrite(path);
    return { metadata: { name: 'written', uid: 'written', resourceVersion: '3000000' } };
  };
  const client = {
    server: 'https://memory',
    namespace: undefined,
    waitingWrites: 0,
    async list(path: string, { labelSelector, ...options }: ListedPart = {}) {
      const isOther = labelSelector !== undefined && !labelSelector.startsWith(ADMITTED_LABEL);
      const all = isOther ? undefined : items[path.split('/').at(-1) ?? ''];
      const { count, item } = all ?? { count: 0, item: () => ({}) };
      const from = Number(options.continue ?? 0);
      const until = Math.min(count, from + (options.limit ?? count));
      const metadata = { resourceVersion: '1', ...(until < count && { continue: `${until}` }) };
      return wire({ metadata, items: Array.from({ length: until - from }, (_, i) => item(from + i)) });
    },
    watch: (_: string, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))),
    create: written,
    update: written,
    patch: written,
    delete: written,
    close: () => undefined,
  };
  return client as unknown as KubernetesClient;
}

const indexOf = (uid: string) => Number(uid.split('-').at(-1));

/** Tables with a row for each Job. */
export function memoryQueue({ jobs }: MemoryCluster): Queue {
  const rowsOf = (uids: readonly string[]) => wire<WorkloadRow[]>(uids.map((uid) => benchRow(indexOf(uid))));
  const queue: Partial<Queue> = {
    disconnects: 0,
    active: async () =>
      wire<WorkloadRow[]>(
        Array.from({ length: jobs }, (_, i) => ({ ...benchRow(i), reason: 'Busy', message: WAITS })),
      ),
    byUid: async (uids) => rowsOf(uids),
    shares: async () => [],
    usualParts: async () => [],
    outcomes: async () => [],
    finished: async () => [],
    sizes: async () => [],
    successions: async () => [],
    setQueues: async () => undefined,
    wait: async (_: number, updates: readonly WaitUpdate[]) =>
      wire<WorkloadRow[]>(updates.map((update) => ({ ...benchRow(indexOf(update.uid)), ...update }))),
    archive: async () => 0,
    purge: async () => 0,
    estimateError: async () => undefined,
    onViewAsked: () => ({ ready: Promise.resolve(), stop: async () => undefined }) as never,
  };
  return queue as Queue;
}
