/**
 * A fake apiserver with the nodes, Jobs, pods and FluxJobs that match the rows of queue-rows.ts. Watches send no events
 * and writes are accepted, so a new controller finds a cluster that agrees with its rows.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  USER_ANNOTATION,
  WALLTIME,
} from '../../constructs/api/labels';
import { fluxJobName, fluxJobSpec, fluxJobStatus } from '../../runtime/fluxjobs/status';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { encodeAssignment, placementOf } from '../../runtime/workloads/assignment';
import { CORES } from './queue-rows';

export interface ListServer {
  /** The kubeconfig as text. */
  readonly kubeconfig: string;
  /** Method and resource of each write, in order. */
  readonly writes: readonly string[];
  stop(): Promise<void>;
}

type Items = Readonly<Record<string, readonly object[]>>;

/** @param rows all active rows, in queue order */
export async function serveCluster(rows: readonly WorkloadRow[], nodes: number): Promise<ListServer> {
  const items = clusterOf(rows, nodes);
  const writes: string[] = [];
  const server = createServer((request, response) => answer(items, writes, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: `apiVersion: v1
kind: Config
clusters: [{ name: bench, cluster: { server: 'http://127.0.0.1:${port}' } }]
users: [{ name: bench, user: { token: none } }]
contexts: [{ name: bench, context: { cluster: bench, user: bench } }]
current-context: bench
`,
    writes,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(items: Items, writes: string[], request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://bench');
  const resource = url.pathname.split('/').find((part) => part in items);
  response.setHeader('content-type', 'application/json');
  if (request.method !== 'GET') {
    writes.push(`${request.method} ${resource ?? url.pathname}`);
    request.resume();
    response.end(JSON.stringify({ metadata: { name: 'written', uid: 'written', resourceVersion: '2' } }));
  } else if (url.searchParams.has('watch')) {
    response.flushHeaders();
  } else {
    response.end(pageOf(items[resource ?? ''] ?? [], url.searchParams));
  }
}

function pageOf(all: readonly object[], query: URLSearchParams): string {
  const from = Number(query.get('continue') ?? 0);
  const until = from + Number(query.get('limit') ?? all.length);
  const metadata = { resourceVersion: '1', ...(until < all.length && { continue: `${until}` }) };
  return JSON.stringify({ metadata, items: all.slice(from, until) });
}

function clusterOf(rows: readonly WorkloadRow[], nodes: number): Items {
  const waiting = rows.filter(({ phase }) => phase === 'Waiting');
  const positions = new Map(waiting.map(({ uid }, i) => [uid, i + 1]));
  const now = Date.now() / 1000;
  return {
    nodes: Array.from({ length: nodes }, (_, i) => node(`node-${i}`)),
    jobs: rows.map(job),
    pods: rows.filter(({ phase }) => phase === 'Running').map(pod),
    fluxjobs: rows.map((row) => fluxJob(row, positions.get(row.uid), now)),
    fluxsetups: [],
    priorityclasses: [],
    runtimeclasses: [],
    events: [],
  };
}

export function node(name: string): object {
  const resources = { cpu: `${CORES}`, memory: `${CORES}Gi`, pods: '110' };
  return {
    metadata: { name, uid: name, resourceVersion: '1', labels: { 'kubernetes.io/hostname': name } },
    spec: {},
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

const creation = (row: WorkloadRow) => new Date(row.submittedAt * 1000).toISOString();

function template(row: WorkloadRow): { metadata: object; spec: object } {
  const { requests = {} } = row.jobspec.attributes.user ?? {};
  const annotations =
    row.allocation === null ? {} : { [ASSIGNMENT_ANNOTATION]: encodeAssignment(placementOf(row)) };
  return {
    metadata: { labels: { [ADMITTED_LABEL]: 'true' }, annotations },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'simulation:1', resources: { requests } }],
    },
  };
}

function job(row: WorkloadRow): object {
  const runs = row.phase === 'Running';
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: row.name,
      namespace: row.namespace,
      uid: row.uid,
      resourceVersion: '1',
      generation: runs ? 2 : 1,
      creationTimestamp: creation(row),
      labels: { [ADMITTED_LABEL]: 'true' },
      annotations: { [USER_ANNOTATION]: row.user, [WALLTIME]: `${row.walltime}` },
    },
    spec: {
      suspend: !runs,
      parallelism: row.pods,
      completions: row.pods,
      completionMode: 'Indexed',
      template: template(row),
    },
    status: runs ? { active: row.pods, startTime: creation(row) } : {},
  };
}

function pod(row: WorkloadRow): object {
  const { metadata, spec } = template(row);
  return {
    metadata: {
      ...metadata,
      name: `${row.name}-0`,
      namespace: row.namespace,
      uid: `${row.uid}-0`,
      resourceVersion: '1',
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: row.name, uid: row.uid, controller: true },
      ],
    },
    spec: { ...spec, nodeName: row.allocation?.nodes[0]?.name },
    status: { phase: 'Running', startTime: creation(row) },
  };
}

export function fluxJob(row: WorkloadRow, position: number | undefined, now: number): object {
  return {
    metadata: {
      name: fluxJobName(row.kind, row.name),
      namespace: row.namespace,
      uid: `${row.uid}-fluxjob`,
      resourceVersion: '1',
    },
    spec: fluxJobSpec(row, 'batch/v1'),
    status: fluxJobStatus(row, { position, wait: undefined, previous: {}, now }),
  };
}
