/** A control plane with real nodes: kubelets, containers and a pod network in separate kernel namespaces. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type Cluster, type KubeObject, startCluster } from '../cluster/cluster';
import type { StaticUser } from '../cluster/credentials';
import { type OwnedProcess, ProcessSet } from '../cluster/processes';
import type { Images } from './images';
import { POD_NETWORK, RealNode } from './node';
import { findNodePrograms, type NodePrograms } from './programs';
import { Sandbox } from './sandbox';

export interface RealClusterOptions {
  /** Number of nodes: worker-1, worker-2, … Each has the cores and the memory of this machine. */
  readonly nodes: number;
  /** Images to import into every node, because there is no registry. */
  readonly images: Images;
  readonly progress: (line: string) => void;
}

/** Starts everything and waits until pods can run on every node. */
export async function startRealCluster(options: RealClusterOptions): Promise<RealCluster> {
  const programs = await findNodePrograms(options.progress);
  const processes = ProcessSet.create('fluxqueue-realpods');
  const started = new RealClusterStart(processes, programs, options);
  try {
    return await started.run();
  } catch (error) {
    await started.abort();
    throw error;
  }
}

export class RealCluster {
  constructor(
    readonly cluster: Cluster,
    readonly nodes: readonly RealNode[],
    /** Is removed with the cluster. */
    readonly directory: string,
    private readonly stopAll: () => Promise<void>,
  ) {}

  node(name: string): RealNode {
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (node === undefined) throw new Error(`no real node has the name ${name}`);
    return node;
  }

  /** Stops every process and removes all files. May be called twice. */
  async stop(): Promise<void> {
    await this.stopAll();
  }
}

class RealClusterStart {
  private sandbox: Sandbox | undefined;
  private cluster: Cluster | undefined;
  private readonly services: OwnedProcess[] = [];
  private stopped = false;

  constructor(
    private readonly processes: ProcessSet,
    private readonly programs: NodePrograms,
    private readonly options: RealClusterOptions,
  ) {}

  async run(): Promise<RealCluster> {
    const { progress, images } = this.options;
    progress('starting namespaces, a control plane and containerd');
    const sandbox = await Sandbox.create(this.processes);
    this.sandbox = sandbox;
    const users = this.users();
    const cluster = await startCluster({
      network: sandbox,
      users,
      progress,
      tuning: { nodeGraceSeconds: 20 },
      // Logs and exec use the addresses, because the names of the nodes do not resolve.
      apiserverArgs: ['--kubelet-preferred-address-types=InternalIP'],
    });
    this.cluster = cluster;
    const nodes = users.flatMap((user, index) =>
      index === 0 ? [] : [this.node(sandbox, cluster, user, index)],
    );
    for (const node of nodes) await node.makeBridge();
    await Promise.all(nodes.map((node) => node.startContainerd()));
    progress(`importing images into ${nodes.length} nodes`);
    await Promise.all(nodes.map((node) => node.importImages(images)));
    progress('starting the kubelets');
    await this.startNetwork(sandbox, cluster, users[0]!);
    for (const node of nodes) await node.startKubelet();
    await cluster.apply([...nodes.map(volume), STORAGE_CLASS]);
    await waitForNodes(cluster, nodes);
    for (const service of this.services) {
      if (!service.running) throw new Error(`${service.name} exited:\n${service.logTail()}`);
    }
    return new RealCluster(cluster, nodes, this.processes.directory, () => this.abort());
  }

  async abort(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.cluster?.stop();
    await this.sandbox?.stop();
    await this.processes.stop();
  }

  /** Returns the user of kube-proxy, then one user per kubelet. */
  private users(): StaticUser[] {
    const token = () => randomBytes(16).toString('hex');
    const kubelets = Array.from({ length: this.options.nodes }, (_, index) => ({
      name: `system:node:worker-${index + 1}`,
      groups: ['system:nodes'],
      token: token(),
    }));
    return [{ name: 'system:kube-proxy', groups: [], token: token() }, ...kubelets];
  }

  private node(sandbox: Sandbox, cluster: Cluster, user: StaticUser, index: number): RealNode {
    const settings = {
      name: `worker-${index}`,
      index,
      kubelet: this.programs.kubelet,
      kubeconfig: cluster.kubeconfigForUser(user),
      dns: sandbox.address,
    };
    return new RealNode(settings, sandbox, this.processes);
  }

  /** Starts one kube-proxy and one CoreDNS for all nodes, because the nodes share a network namespace. */
  private async startNetwork(sandbox: Sandbox, cluster: Cluster, proxyUser: StaticUser): Promise<void> {
    const folder = join(this.processes.directory, 'network');
    mkdirSync(folder);
    const proxy = join(folder, 'kube-proxy.yaml');
    writeFileSync(proxy, stringify(proxyConfig(cluster.kubeconfigForUser(proxyUser), sandbox.address)));
    await this.startInside(sandbox, 'kube-proxy', [this.programs['kube-proxy'], `--config=${proxy}`]);
    const corefile = join(folder, 'Corefile');
    writeFileSync(
      corefile,
      `.:53 {\n  errors\n  kubernetes cluster.local in-addr.arpa {\n    kubeconfig ${cluster.kubeconfig}\n  }\n  cache 5\n}\n`,
    );
    await this.startInside(sandbox, 'coredns', [this.programs.coredns, '-conf', corefile]);
  }

  private async startInside(sandbox: Sandbox, name: string, command: readonly string[]): Promise<void> {
    const [enter = '', ...options] = sandbox.enterAll;
    const process = await this.processes.start(name, enter, [...options, ...command]);
    this.services.push(process);
  }
}

function proxyConfig(kubeconfig: string, address: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clusterCIDR: POD_NETWORK,
    hostnameOverride: 'worker-1',
    clientConnection: { kubeconfig },
    bindAddress: address,
    healthzBindAddress: '',
    metricsBindAddress: '',
    // Zero keeps the limits of the machine unchanged.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { syncPeriod: '30s', minSyncPeriod: '100ms' },
  };
}

const STORAGE_CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/** A PersistentVolume on the disk of the node: a pod that uses it runs on this node only. */
function volume({ name, volumes }: RealNode): KubeObject {
  const match = { key: 'kubernetes.io/hostname', operator: 'In', values: [name] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${name}-local` },
    spec: {
      capacity: { storage: '20Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'local',
      local: { path: volumes },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [match] }] } },
    },
  };
}

async function waitForNodes(cluster: Cluster, nodes: readonly RealNode[]): Promise<void> {
  try {
    await cluster.waitFor(
      `${nodes.length} real nodes to be Ready`,
      async () => {
        const { items } = await cluster.get<{ items: KubeObject[] }>('/api/v1/nodes');
        return items.filter(isReady).length === nodes.length;
      },
      { timeoutMs: 60_000 },
    );
  } catch (error) {
    throw new Error(nodes.map((node) => node.logTail()).join('\n'), { cause: error });
  }
}

/** Whether the node has the condition Ready. */
export function isReady(node: KubeObject): boolean {
  const { conditions = [] } = node.status as { conditions?: { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
