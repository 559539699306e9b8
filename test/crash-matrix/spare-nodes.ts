/** Nodes of one job only, and their faults. */
import { nodes as nodePath, pods as podPath } from '../../runtime/kubernetes/paths';
import type { KubernetesList, Pod } from '../../runtime/kubernetes/types';
import type { Cluster } from '../cluster/cluster';
import type { NodeFault } from './fault-points';

/** Number of cores. */
const CORES = 4;
const MERGE = 'application/merge-patch+json';

export class SpareNodes {
  /** Unix seconds of all changes of nodes. */
  readonly disturbances: number[] = [];
  /** Names of all nodes that had a fault or are gone. */
  readonly lost = new Set<string>();
  /** The pods of a node that is not ready are deleted after a second instead of five minutes. */
  readonly tolerations = ['not-ready', 'unreachable'].map((reason) => ({
    key: `node.kubernetes.io/${reason}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 1,
  }));
  private readonly there = new Set<string>();

  constructor(private readonly cluster: Cluster) {}

  /** Adds a node with the label `spare`. @returns its name */
  async add(spare: number): Promise<string> {
    this.disturb();
    const [name = ''] = await this.cluster.addNodes(1, { cpu: `${CORES}`, labels: { spare: `${spare}` } });
    this.there.add(name);
    return name;
  }

  async break(name: string, fault: Exclude<NodeFault, 'pinned'>): Promise<void> {
    this.lost.add(name);
    this.disturb();
    if (fault === 'deleted') await this.delete(name);
    else if (fault === 'tainted') await this.patch(nodePath(name), { spec: { taints: [TAINT] } });
    else if (fault === 'not-ready') await this.stopKubelet(name);
    else {
      await this.patch(nodePath(name), { spec: { unschedulable: true } });
      for (const { metadata } of await this.podsOn(name))
        await (fault === 'drained' ? this.evict(metadata) : this.deletePod(metadata));
    }
  }

  /** Removes all nodes that are still there. */
  async remove(): Promise<void> {
    for (const name of [...this.there]) {
      this.lost.add(name);
      this.disturb();
      await this.delete(name);
    }
  }

  private async delete(name: string): Promise<void> {
    this.there.delete(name);
    await this.cluster.removeNode(name);
  }

  /** The node is NotReady, and its pods do not end. */
  private async stopKubelet(name: string): Promise<void> {
    for (const { metadata } of await this.podsOn(name))
      await this.annotate(podPath(metadata.namespace, metadata.name), 'fluxqueue.test/stuck');
    await this.annotate(nodePath(name), 'fluxqueue.test/not-ready');
  }

  private annotate(path: string, annotation: string): Promise<void> {
    return this.patch(path, { metadata: { annotations: { [annotation]: 'true' } } });
  }

  private async patch(path: string, body: object): Promise<void> {
    await this.cluster.request('PATCH', path, body, MERGE);
  }

  private async evict({ name, namespace }: Pod['metadata']): Promise<void> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    await this.cluster.request('POST', podPath(namespace, name, 'eviction'), eviction);
  }

  private async deletePod({ name, namespace }: Pod['metadata']): Promise<void> {
    await this.cluster.request('DELETE', podPath(namespace, name));
  }

  private async podsOn(name: string): Promise<readonly Pod[]> {
    const query = `fieldSelector=${encodeURIComponent(`spec.nodeName=${name}`)}`;
    return (await this.cluster.get<KubernetesList<Pod>>(`${podPath()}?${query}`)).items;
  }

  private disturb(): void {
    this.disturbances.push(Date.now() / 1000);
  }
}

const TAINT = { key: 'example.com/maintenance', effect: 'NoExecute' };
