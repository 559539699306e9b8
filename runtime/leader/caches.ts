/** What the leader knows of the cluster: watched objects and the views the controllers ask of them. */
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
} from '../../constructs/api/labels';
import type { Time } from '../clock';
import { type FluxJobObject, fluxJobs } from '../fluxjobs/reconciler';
import type { FluxSetupObject } from '../fluxsetups/queue-settings';
import { fluxSetups } from '../fluxsetups/reconciler';
import type { ClusterFacts } from '../jobspec/constraints';
import { allocatableOf, clusterFacts, graphNodes } from '../jobspec/graph-nodes';
import { podRequests } from '../jobspec/requests';
import { type UnitSettings, unmanagedUnits } from '../jobspec/units';
import type { KubernetesClient } from '../kubernetes/client';
import { controllerOf } from '../kubernetes/owner';
import { jobs, nodes, pods, priorityClasses } from '../kubernetes/paths';
import { Reflector } from '../kubernetes/reflector';
import type { Job, KubernetesObject, Node, Pod, PriorityClass } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import type { GraphNode } from '../resources/types';
import { isTerminal } from '../workloads/adapter';
import { isBeyondAssignment } from '../workloads/assignment';
import type { WorkloadKey } from '../workloads/key';

export interface CachesOptions {
  readonly client: KubernetesClient;
  readonly logger: Logger;
  readonly time: Time;
  readonly units: UnitSettings;
  /** A workload or one of its pods changed. */
  readonly onWorkload: (key: WorkloadKey) => void;
  /** Nodes or their use by pods that are not ours changed. */
  readonly onCapacity: () => void;
  /** A node was deleted. */
  readonly onNodeGone: (name: string) => void;
  /** Whether pods with this owner (or own) uid run on what the queue granted. */
  readonly isOurs: (uid: string) => boolean;
  /** The FluxJob of this workload changed. */
  readonly onFluxJob: (uid: string, object: FluxJobObject | undefined) => void;
  readonly onFluxSetup: (before: FluxSetupObject | undefined, now: FluxSetupObject | undefined) => void;
  /** What pods are worth that name a PriorityClass, or none. */
  readonly onPriorities: () => void;
}

/** A handful of watches: after an outage the apiserver is looked for every few seconds, not every half minute. Milliseconds. */
const RETRY = { first: 250, most: 4_000 };

type Units = Readonly<Record<string, number>>;

export class Caches {
  private readonly jobs: Reflector<Job>;
  private readonly pods: Reflector<Pod>;
  private readonly nodes: Reflector<Node>;
  private readonly fluxJobs: Reflector<FluxJobObject>;
  private readonly fluxSetups: Reflector<FluxSetupObject>;
  private readonly priorities: Reflector<PriorityClass>;
  private readonly stopping = new AbortController();
  private graph: ReadonlyMap<string, GraphNode> | undefined;
  private facts: ClusterFacts | undefined;
  private known = new Map<string, { readonly resource: string; readonly node: GraphNode }>();

  constructor(private readonly options: CachesOptions) {
    const { client, logger, onWorkload, onFluxJob, onFluxSetup, onPriorities } = options;
    const { clock, random } = options.time;
    const common = { client, logger, clock, random, backoff: RETRY };
    const admitted = `${ADMITTED_LABEL}=true`;
    this.jobs = new Reflector<Job>({
      ...common,
      path: jobs(),
      labelSelector: admitted,
      onChange: (_key, job, previous) => onWorkload(keyOf('Job', (job ?? previous)!)),
    });
    this.pods = new Reflector<Pod>({
      ...common,
      path: pods(),
      indexes: { workload: (pod) => [workloadUid(pod)], node: (pod) => boundTo(pod) },
      onChange: (_key, pod, previous) => this.podChanged(pod, previous),
    });
    this.nodes = new Reflector<Node>({
      ...common,
      path: nodes(),
      project: nodeFacts,
      onChange: (_key, node, previous) => this.nodeChanged(node, previous),
    });
    this.fluxJobs = new Reflector<FluxJobObject>({
      ...common,
      path: fluxJobs(),
      onChange: (_key, object, previous) => onFluxJob((object ?? previous)!.spec.workload.uid, object),
    });
    this.fluxSetups = new Reflector<FluxSetupObject>({
      ...common,
      path: fluxSetups(),
      onChange: (_key, object, previous) => onFluxSetup(previous, object),
    });
    this.priorities = new Reflector<PriorityClass>({
      ...common,
      path: priorityClasses(),
      onChange: onPriorities,
    });
  }

  /** Resolves when everything has been listed once, however long that takes, or when it was stopped before. */
  async start(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const all = this.all();
    for (const reflector of all) reflector.start();
    await Promise.race([Promise.all(all.map(({ synced }) => synced)), once(this.stopping.signal, 'abort')]);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.all().map((reflector) => reflector.stop()));
  }

  private all() {
    return [this.nodes, this.pods, this.jobs, this.fluxJobs, this.fluxSetups, this.priorities];
  }

  objectOf({ kind, namespace, name }: WorkloadKey): KubernetesObject | undefined {
    const key = `${namespace}/${name}`;
    if (kind === 'Job') return this.jobs.get(key);
    return this.pods.get(key);
  }

  /** Keys of everything that may be a workload: for the first look after a restart. */
  *workloads(): Iterable<WorkloadKey> {
    for (const job of this.jobs.list()) yield keyOf('Job', job);
    for (const pod of this.pods.list()) if (isPlainWorkload(pod)) yield keyOf('Pod', pod);
  }

  podsOf(uid: string): readonly Pod[] {
    return this.pods.byIndex('workload', uid);
  }

  fluxJob(namespace: string, name: string): FluxJobObject | undefined {
    return this.fluxJobs.get(`${namespace}/${name}`);
  }

  allFluxJobs(): readonly FluxJobObject[] {
    return this.fluxJobs.list();
  }

  fluxSetup(namespace: string, name: string): FluxSetupObject | undefined {
    return this.fluxSetups.get(`${namespace}/${name}`);
  }

  allFluxSetups(): readonly FluxSetupObject[] {
    return this.fluxSetups.list();
  }

  /** Value of a PriorityClass; without a name, of the one that is the cluster's default. */
  priorityOf(className: string | undefined): number | undefined {
    if (className !== undefined) return this.priorities.get(className)?.value;
    return this.priorities.list().find(({ globalDefault }) => globalDefault === true)?.value;
  }

  nodeExists(name: string): boolean {
    return this.nodes.get(name) !== undefined;
  }

  /** Nodes as Fluxion sees them; the same object for a node as long as nothing of it changed. */
  graphNodes(): ReadonlyMap<string, GraphNode> {
    if (this.graph !== undefined) return this.graph;
    const known = new Map<string, { readonly resource: string; readonly node: GraphNode }>();
    for (const node of this.nodes.list()) {
      const resource = JSON.stringify(node);
      const before = this.known.get(node.metadata.name);
      const [made] =
        before?.resource === resource ? [before.node] : graphNodes([node], { units: this.options.units });
      if (made !== undefined) known.set(made.name, { resource, node: made });
    }
    this.known = known;
    this.graph = new Map([...known].map(([name, { node }]) => [name, node]));
    return this.graph;
  }

  clusterFacts(): ClusterFacts {
    this.facts ??= clusterFacts(this.nodes.list());
    return this.facts;
  }

  /** Units used on each node by pods that are bound there and not ours. */
  unmanaged(): ReadonlyMap<string, Units> {
    const used = new Map<string, Units>();
    for (const node of this.graphNodes().keys()) {
      const pods = this.pods.byIndex('node', node).filter((pod) => !this.options.isOurs(workloadUid(pod)));
      if (pods.length === 0) continue;
      const requests = pods.map(({ spec }) => podRequests(spec));
      used.set(node, unmanagedUnits(requests, allocatableOf(this.nodes.get(node)!), this.options.units));
    }
    return used;
  }

  private podChanged(pod: Pod | undefined, previous: Pod | undefined): void {
    const either = (pod ?? previous)!;
    const { namespace = '', name } = either.metadata;
    const owner = controllerOf(either);
    if (isPlainWorkload(either)) this.options.onWorkload({ kind: 'Pod', namespace, name });
    else if (owner?.kind === 'Job') this.options.onWorkload({ kind: 'Job', namespace, name: owner.name });
    if (usedNode(pod) !== usedNode(previous) && !this.options.isOurs(workloadUid(either)))
      this.options.onCapacity();
  }

  private nodeChanged(node: Node | undefined, previous: Node | undefined): void {
    // A heartbeat.
    if (isDeepStrictEqual(node, previous)) return;
    this.graph = undefined;
    this.facts = undefined;
    if (node === undefined) this.options.onNodeGone(previous!.metadata.name);
    this.options.onCapacity();
  }
}

function keyOf(kind: string, { metadata }: KubernetesObject): WorkloadKey {
  return { kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

/** A pod that admission took in on its own account, not one of those that a Job was released with. */
function isPlainWorkload({ metadata: { labels, annotations } }: Pod): boolean {
  const assignment = annotations?.[ASSIGNMENT_ANNOTATION];
  return (
    labels?.[ADMITTED_LABEL] === 'true' &&
    (assignment === undefined ||
      isBeyondAssignment(assignment, Number(annotations?.[COMPLETION_INDEX_ANNOTATION])))
  );
}

/** uid of the workload this pod belongs to: its Job's, or its own. */
function workloadUid(pod: Pod): string {
  const owner = controllerOf(pod);
  return owner?.kind === 'Job' && !isPlainWorkload(pod) ? owner.uid : pod.metadata.uid;
}

/** The node whose units it uses. */
function usedNode(pod: Pod | undefined): string | undefined {
  return pod === undefined || isTerminal(pod) ? undefined : pod.spec.nodeName;
}

function boundTo(pod: Pod): readonly string[] {
  const node = usedNode(pod);
  return node === undefined ? [] : [node];
}

/** Only what the graph is made of, so that heartbeats and image lists change nothing. */
function nodeFacts(node: Node): Node {
  const { name, uid, labels } = node.metadata;
  const { unschedulable, taints } = node.spec;
  const ready = node.status?.conditions?.filter(({ type }) => type === 'Ready') ?? [];
  return {
    metadata: { name, uid, resourceVersion: '', creationTimestamp: '', ...(labels && { labels }) },
    spec: { ...(unschedulable && { unschedulable }), ...(taints && { taints }) },
    status: {
      ...(node.status?.allocatable && { allocatable: node.status.allocatable }),
      conditions: ready.map(({ type, status }) => ({ type, status })),
    },
  };
}
