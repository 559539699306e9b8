/** The watches of a term: one per resource, shared by all areas. */
import { once } from 'node:events';
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { Time } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import {
  type FluxJobObject,
  type FluxSetupObject,
  fluxJobs,
  fluxSetups,
} from '../kubernetes/custom-resources';
import { Informer } from '../kubernetes/informer';
import { jobs, nodes, pods, priorityClasses } from '../kubernetes/paths';
import type { Job, Node, Pod, PriorityClass } from '../kubernetes/types';
import type { Logger } from '../observability/log';
import { nodeFacts } from './node-cache';
import type { PodFacts } from './pod-facts';

export interface InformersOptions {
  readonly client: KubernetesClient;
  readonly logger: Logger;
  readonly time: Time;
  readonly podFacts: PodFacts;
}

/** Milliseconds. A term has few watches, so after an outage each of them may ask the apiserver every few seconds. */
const BACKOFF = { first: 250, most: 4_000 };

export class Informers {
  /** The Jobs that admission took into the queue. */
  readonly jobs: Informer<Job>;
  /** All pods of the cluster, indexed by the uid of their `workload` and by the `node` whose units they use. */
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly fluxJobs: Informer<FluxJobObject>;
  readonly fluxSetups: Informer<FluxSetupObject>;
  readonly priorityClasses: Informer<PriorityClass>;
  private readonly stopping = new AbortController();

  constructor({ client, logger, time: { clock, random }, podFacts }: InformersOptions) {
    const common = { client, logger, clock, random, backoff: BACKOFF };
    const indexes = {
      workload: (pod: Pod) => [podFacts.workloadUid(pod)],
      node: (pod: Pod) => optional(podFacts.usedNode(pod)),
    };
    this.jobs = new Informer<Job>({ ...common, path: jobs(), labelSelector: `${ADMITTED_LABEL}=true` });
    this.pods = new Informer<Pod>({ ...common, path: pods(), indexes });
    this.nodes = new Informer<Node>({ ...common, path: nodes(), project: nodeFacts });
    this.fluxJobs = new Informer<FluxJobObject>({ ...common, path: fluxJobs() });
    this.fluxSetups = new Informer<FluxSetupObject>({ ...common, path: fluxSetups() });
    this.priorityClasses = new Informer<PriorityClass>({ ...common, path: priorityClasses() });
  }

  /** Resolves when every resource has been listed once, however long that takes, or when `stop` was called. */
  async start(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const all = this.all();
    for (const informer of all) informer.start();
    const synced = Promise.all(all.map((informer) => informer.synced));
    await Promise.race([synced, once(this.stopping.signal, 'abort')]);
  }

  /** No change is reported any more. The caches keep their contents. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const informer of this.all()) informer.stop();
  }

  private all() {
    return [this.nodes, this.pods, this.jobs, this.fluxJobs, this.fluxSetups, this.priorityClasses];
  }
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}
