/** Creates, reads and ends MiniClusters of a test namespace. */

import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { ReportContact } from '../../constructs/minicluster';
import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { MiniClusterStatusPhase } from '../../imports/flux-framework.org-status';
import { ifFound } from '../../runtime/kubernetes/errors';
import { jobs, namespaced, pods } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject, Pod } from '../../runtime/kubernetes/types';
import { type MiniCluster, miniClusters } from '../../runtime/miniclusters/resource';
import { waitFor } from '../cluster/wait';
import type { Fixture } from './suite';

/** Every kind of object that a MiniCluster can own. */
const KINDS = {
  ConfigMap: namespaced('', 'v1', 'configmaps'),
  Secret: namespaced('', 'v1', 'secrets'),
  Service: namespaced('', 'v1', 'services'),
  EndpointSlice: namespaced('discovery.k8s.io', 'v1', 'endpointslices'),
  Pod: pods,
  Job: jobs,
  StatefulSet: namespaced('apps', 'v1', 'statefulsets'),
  Deployment: namespaced('apps', 'v1', 'deployments'),
  ReplicaSet: namespaced('apps', 'v1', 'replicasets'),
  FluxJob: namespaced('jobs.converged-computing.org', 'v1alpha1', 'fluxjobs'),
} as const;

export type Kind = keyof typeof KINDS;

export class MiniClusters {
  constructor(
    private readonly fixture: () => Fixture,
    private readonly namespace: string,
  ) {}

  /** Creates a cluster whose pods have two cores each and run until the test ends them. */
  create(name: string, spec: Partial<MiniClusterSpec> = {}): Promise<MiniCluster> {
    if (!this.fixture().stack.admitsMiniClusters)
      throw new Error('createsMiniClusters is false for this suite');
    return this.client.create<MiniCluster>(miniClusters(this.namespace), {
      apiVersion: 'flux-framework.org/v1alpha2',
      kind: 'MiniCluster',
      metadata: { name },
      spec: {
        size: 4,
        containers: [{ image: 'none', command: 'hostname', resources: { requests: { cpu: 2 } } }],
        ...spec,
        pod: { ...spec.pod, annotations: { 'fluxqueue.test/duration': '10m' } },
      },
    });
  }

  patch(name: string, spec: object): Promise<MiniCluster> {
    return this.client.patch<MiniCluster>(miniClusters(this.namespace, name), { spec }, 'merge');
  }

  /** Deletes a cluster that may be deleted already. */
  async delete(name: string): Promise<void> {
    await ifFound(this.client.delete(miniClusters(this.namespace, name)));
  }

  get(name: string): Promise<MiniCluster | undefined> {
    return ifFound(this.client.get<MiniCluster>(miniClusters(this.namespace, name)));
  }

  /** Deletes all clusters and all Jobs. */
  async clear(): Promise<void> {
    const { items } = await this.client.list<MiniCluster>(miniClusters(this.namespace));
    for (const { metadata } of items) await this.delete(metadata.name);
    for (const { metadata } of await this.list('Job'))
      await ifFound(
        this.client.delete(jobs(this.namespace, metadata.name), { propagationPolicy: 'Background' }),
      );
  }

  /** Resolves to the cluster once it is in this phase. */
  phase(name: string, phase: MiniClusterStatusPhase): Promise<MiniCluster> {
    return waitFor(`MiniCluster ${name} to be ${phase}`, async () => {
      const found = await this.get(name);
      if (found?.status?.phase === phase) return found;
      throw new Error(`it is ${JSON.stringify(found?.status)}`);
    });
  }

  /** Resolves to the condition once it has this status. */
  condition(name: string, type: string, status: 'True' | 'False', reason?: string): Promise<Condition> {
    return waitFor(`${type} of ${name} to be ${status} ${reason ?? ''}`, async () => {
      const found = await this.get(name);
      const condition = conditionOf(found, type);
      if (condition?.status === status && (reason === undefined || condition.reason === reason))
        return condition;
      throw new Error(`it is ${JSON.stringify(found?.status)}`);
    });
  }

  job(name: string): Promise<Job> {
    return waitFor(`Job ${name}`, () => ifFound(this.client.get<Job>(jobs(this.namespace, name))));
  }

  /** The unfinished broker pods, in the order of their indexes. */
  async brokers(name: string): Promise<readonly Pod[]> {
    const labelSelector = `hpa-selector=${name}`;
    const { items } = await this.client.list<Pod>(pods(this.namespace), { labelSelector });
    return items
      .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && !hasEnded(status?.phase))
      .sort((a, b) => indexOf(a) - indexOf(b));
  }

  /** Resolves to the broker pods once this number of them runs. */
  running(name: string, count: number): Promise<readonly Pod[]> {
    return waitFor(`${count} brokers of ${name} to run`, async () => {
      const all = await this.brokers(name);
      if (all.length === count && all.every(({ status }) => status?.phase === 'Running')) return all;
      throw new Error(`there are ${all.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)}`);
    });
  }

  /** How the lead broker reaches the leader of the controllers. */
  reportContact(name: string): Promise<ReportContact> {
    return waitFor(`the address of the leader in the configuration of ${name}`, async () => {
      const all = await this.list<KubernetesObject & { data: Record<string, string> }>('ConfigMap');
      const config = all.find(({ metadata }) => metadata.name === `${name}-config`);
      const found = JSON.parse(config!.data['cluster_report.json']!) as Partial<ReportContact>;
      return found.addresses === undefined ? undefined : (found as ReportContact);
    });
  }

  /** Sets the status of a pod as if its container had exited with this code. */
  async finishPod(pod: Pod, exitCode = 0): Promise<void> {
    const terminated = { exitCode, finishedAt: new Date().toISOString() };
    const status = {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: pod.spec.containers.map(({ name, image }) => ({
        name,
        image,
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated },
      })),
    };
    await this.client.patch(pods(this.namespace, pod.metadata.name, 'status'), { status }, 'merge');
  }

  async list<T extends KubernetesObject>(kind: Kind): Promise<readonly T[]> {
    return (await this.client.list<T>(KINDS[kind](this.namespace))).items;
  }

  /** `Kind/name` of every object that the cluster owns, directly or indirectly. */
  async ownedObjects({ metadata: { uid } }: MiniCluster): Promise<readonly string[]> {
    const all = await Promise.all(
      (Object.keys(KINDS) as Kind[]).map(async (kind) =>
        (await this.list(kind)).map((object) => ({ kind, ...object.metadata })),
      ),
    );
    const owners = new Set([uid]);
    const found = new Set<string>();
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const { kind, name, uid: own, ownerReferences = [] } of all.flat()) {
        if (!ownerReferences.some((owner) => owners.has(owner.uid))) continue;
        owners.add(own);
        found.add(`${kind}/${name}`);
      }
    }
    return [...found].sort();
  }

  private get client() {
    return this.fixture().client;
  }
}

type Condition = NonNullable<ReturnType<typeof conditionOf>>;

export function conditionOf(cluster: MiniCluster | undefined, wanted: string) {
  return cluster?.status?.conditions?.find(({ type }) => type === wanted);
}

/** The types of the conditions that are True. */
export function trueConditions(cluster: MiniCluster): readonly string[] {
  return (cluster.status?.conditions ?? []).filter(({ status }) => status === 'True').map(({ type }) => type);
}

/** Number of pods per node. */
export function podsPerNode(pods: readonly Pod[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { spec } of pods) counts[spec.nodeName!] = (counts[spec.nodeName!] ?? 0) + 1;
  return counts;
}

function indexOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[COMPLETION_INDEX_ANNOTATION]);
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
