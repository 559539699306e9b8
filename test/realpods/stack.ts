/** Applies the stack file by file with kubectl, as a user does, waits for its pods, and removes it. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'cdk8s';
import { defaultStack, type FluxQueueProps } from '../../constructs/fluxqueue';
import type { Cluster, KubeObject } from '../cluster/cluster';

const ROOT = join(__dirname, '..', '..');
export const STACK_NAMESPACE = 'fluxqueue-system';

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state?: Readonly<Record<string, unknown>>;
}

export interface RealPod extends KubeObject {
  metadata: KubeObject['metadata'] & { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: {
    phase?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

/** Returns the folder with the manifests: dist/ for the defaults, else a new folder inside `directory`. */
export function synthesize(props: FluxQueueProps, directory: string): string {
  if (Object.keys(props).length === 0) return join(ROOT, 'dist');
  const outdir = join(directory, 'stack');
  mkdirSync(outdir, { recursive: true });
  const app = new App({ outdir });
  defaultStack(app, props);
  app.synth();
  return outdir;
}

export class DeployedStack {
  readonly files: readonly string[];

  constructor(
    private readonly cluster: Cluster,
    folder: string,
  ) {
    this.files = readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .map((file) => join(folder, file));
  }

  /** `kubectl apply` of each file in the order of their names. */
  async apply(): Promise<void> {
    for (const file of this.files) await this.kubectl('apply', '--server-side', '-f', file);
  }

  /** `kubectl delete` of each file in reverse order; waits until all objects are deleted. */
  async remove(): Promise<void> {
    for (const file of this.files.toReversed()) {
      await this.kubectl('delete', '--ignore-not-found', '--timeout=120s', '-f', file);
    }
  }

  async pods(): Promise<RealPod[]> {
    const { items } = await this.cluster.get<{ items: RealPod[] }>(
      `/api/v1/namespaces/${STACK_NAMESPACE}/pods`,
    );
    return items;
  }

  /** Waits until every desired pod is Ready and no other pod exists, and returns the pods. */
  async waitReady(timeoutMs = 180_000): Promise<RealPod[]> {
    try {
      return await this.cluster.waitFor('every pod of the stack to be Ready', () => this.readyPods(), {
        timeoutMs,
        everyMs: 100,
      });
    } catch (error) {
      throw new Error(`${await this.describe()}`, { cause: error });
    }
  }

  /** Returns all pods, or undefined while one is missing, not Ready or terminating. */
  async readyPods(): Promise<RealPod[] | undefined> {
    const pods = await this.pods();
    const wanted = await this.wantedPods();
    return pods.length === wanted && pods.every(isPodReady) ? pods : undefined;
  }

  /** Returns the pod that holds the Lease. */
  async leader(): Promise<RealPod> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${STACK_NAMESPACE}/leases/fluxqueue-controller`;
    return this.cluster.waitFor('a leader', async () => {
      const { spec } = await this.cluster.get<{ spec: { holderIdentity?: string } }>(path);
      const pods = await this.pods();
      return pods.find(({ metadata }) => spec.holderIdentity?.startsWith(metadata.name));
    });
  }

  deletePod(name: string, force = false): Promise<string> {
    const how = force ? ['--force', '--grace-period=0'] : [];
    return this.kubectl('delete', 'pod', name, '-n', STACK_NAMESPACE, '--wait=false', ...how);
  }

  /** Returns the pods, the events and the end of every log. */
  async describe(): Promise<string> {
    const sections = [
      ['get', 'pods', '-A', '-o', 'wide'],
      ['get', 'events', '-n', STACK_NAMESPACE, '--sort-by=.lastTimestamp'],
    ];
    for (const { metadata } of await this.pods()) {
      sections.push(['logs', '-n', STACK_NAMESPACE, metadata.name, '--all-containers', '--tail=8']);
    }
    const texts = sections.map(async (args) => {
      const { stdout, stderr } = await this.cluster.kubectl(args);
      return `$ kubectl ${args.join(' ')}\n${stdout}${stderr}`;
    });
    return (await Promise.all(texts)).join('\n');
  }

  /** @throws an error with the output of kubectl if it fails. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  private async wantedPods(): Promise<number> {
    const of = async (resource: string) => {
      const path = `/apis/apps/v1/namespaces/${STACK_NAMESPACE}/${resource}`;
      const { items } = await this.cluster.get<{ items: { spec: { replicas: number } }[] }>(path);
      return items.reduce((sum, { spec }) => sum + spec.replicas, 0);
    };
    return (await of('deployments')) + (await of('statefulsets'));
  }
}

function isPodReady({ metadata, status }: RealPod): boolean {
  const ready = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return ready === true && metadata.deletionTimestamp === undefined;
}
