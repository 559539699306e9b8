/** What the checks read. Several of them read the same objects, so each request is sent once. */
import { ADMITTED_LABEL, CONTROLLER_LEASE, PART_OF, STACK } from '../../../constructs/api/labels';
import { WORKLOAD_KINDS, type WorkloadKind } from '../../../constructs/api/workload-kinds';
import type { KubernetesClient } from '../../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../kubernetes/custom-resources';
import { ifFound } from '../../kubernetes/errors';
import { type KindObject, kindPath } from '../../kubernetes/kind-fields';
import { clusterWide, jobs, leases, namespaced, pods } from '../../kubernetes/paths';
import type { Job, KubernetesObject, Lease, Pod } from '../../kubernetes/types';
import type { Deployment, Namespace } from './objects';

const OF_THE_STACK = `${PART_OF}=${STACK}`;
export const PODS_OF_THE_STACK = 'app.kubernetes.io/name=fluxqueue';
const ADMITTED = `${ADMITTED_LABEL}=true`;

const namespaces = clusterWide('', 'v1', 'namespaces');
const deployments = namespaced('apps', 'v1', 'deployments');
const statefulSets = namespaced('apps', 'v1', 'statefulsets');

export class ClusterReader {
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(
    readonly client: Pick<KubernetesClient, 'get' | 'list' | 'create' | 'watch'>,
    /** Namespace of the stack. */
    private readonly namespace: string,
  ) {}

  /** The object, or undefined if there is none. */
  get<T>(path: string): Promise<T | undefined> {
    return this.once(path, () => ifFound(this.client.get<T>(path)));
  }

  /** All objects; none if the apiserver does not serve the kind. */
  list<T>(path: string, labelSelector?: string): Promise<readonly T[]> {
    const selection = labelSelector === undefined ? {} : { labelSelector };
    return this.once(`${path}?${labelSelector ?? ''}`, async () => {
      const found = await ifFound(this.client.list<T>(path, selection));
      return found?.items ?? [];
    });
  }

  /** Objects of the stack of one kind. */
  ofTheStack<T extends KubernetesObject>(path: string): Promise<readonly T[]> {
    return this.list<T>(path, OF_THE_STACK);
  }

  deployments(): Promise<readonly Deployment[]> {
    return this.ofTheStack(deployments(this.namespace));
  }

  statefulSets(): Promise<readonly Deployment[]> {
    return this.ofTheStack(statefulSets(this.namespace));
  }

  podsOfTheStack(): Promise<readonly Pod[]> {
    return this.list(pods(this.namespace), PODS_OF_THE_STACK);
  }

  lease(): Promise<Lease | undefined> {
    return this.get(leases(this.namespace, CONTROLLER_LEASE));
  }

  namespaces(): Promise<readonly Namespace[]> {
    return this.list(namespaces());
  }

  /** Jobs and pods that admission let into the queue. A gated pod keeps the label when it is released. */
  admittedJobs(): Promise<readonly Job[]> {
    return this.list(jobs(), ADMITTED);
  }

  admittedPods(): Promise<readonly Pod[]> {
    return this.list(pods(), ADMITTED);
  }

  /** Objects of the workload kinds that admission let into the queue; none of a kind that the cluster does not have. */
  async admittedOfKinds(): Promise<readonly (readonly [WorkloadKind, readonly KindObject[]])[]> {
    const lists = WORKLOAD_KINDS.map(async (kind) => {
      const objects = await ifFound(this.list<KindObject>(kindPath(kind)(), ADMITTED));
      return [kind, objects ?? []] as const;
    });
    return Promise.all(lists);
  }

  fluxJobs(): Promise<readonly FluxJobObject[]> {
    return this.list(fluxJobs());
  }

  /** The answer to a question that several checks ask. */
  once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.answers.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const answer = read();
    this.answers.set(key, answer);
    return answer;
  }
}
