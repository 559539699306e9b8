/**
 * Runs the pods of one rendered cluster as sandboxes on this machine with a real Flux. Each pod has its own network,
 * host name, files and process ids, and the containers of its manifest. This class does what a kubelet does, as far
 * as MiniClusters need it; the tests do what the Job controller does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ManifestObject } from '../../constructs/minicluster';
import { type Ended, ended } from '../constructs/minicluster/pod-files';
import { Network, SIZE } from './network';
import { type PodSpec, sandbox } from './sandbox';
import { makeVolumes } from './volumes';

interface Running {
  readonly process: ChildProcess;
  /** The process id outside the sandbox. */
  readonly pid: Promise<number>;
  readonly ended: Promise<Ended>;
}

export interface Image {
  /** Folders of this machine by their path in the image. */
  readonly folders: Readonly<Record<string, string>>;
  /** Additional folders in PATH. */
  readonly path?: readonly string[];
}

export type Images = (name: string) => Image;

export class Pods {
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-flux-'));
  private readonly job: ManifestObject;
  private readonly running = new Map<number, Running[]>();

  constructor(
    private readonly objects: readonly ManifestObject[],
    private readonly images: Images,
    private readonly network = new Network(),
    /** Network index of pod 0, so that two clusters can share one network. */
    private readonly first = 0,
    /** Clusters whose DNS names its pods resolve too. */
    private readonly neighbours: readonly Pods[] = [],
  ) {
    this.job = objects.find(({ kind }) => kind === 'Job' || kind === 'StatefulSet')!;
  }

  get size(): number {
    const { completions, replicas } = this.job.spec as { completions?: number; replicas?: number };
    return completions ?? replicas!;
  }

  private get pod(): PodSpec {
    return (this.job.spec as { template: { spec: PodSpec } }).template.spec;
  }

  /** Starts pod `index`: the init containers one after the other, then the broker container. */
  async start(index: number): Promise<Running> {
    const folder = join(this.folder, String(index));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const { initContainers = [], containers } = this.pod;
    const started: Running[] = [];
    this.running.set(index, started);
    const files = {
      volumes: makeVolumes(this.objects, this.pod, folder),
      hosts: this.hostsFile(folder, index),
    };
    for (const container of initContainers) {
      const each = this.run(container, index, files);
      if (container.restartPolicy === 'Always') {
        started.push(each);
        continue;
      }
      const { code, stderr } = await each.ended;
      if (code !== 0) throw new Error(`init container ${container.name}: ${code}: ${stderr}`);
    }
    const broker = this.run(containers[0]!, index, files);
    started.push(broker);
    return broker;
  }

  startAll(): Promise<Running[]> {
    return Promise.all(Array.from({ length: this.size }, (_, index) => this.start(index)));
  }

  /** Waits for the end of pod 0 and then terminates the other pods, as the success policy of the Job does. */
  async toTheEnd(): Promise<{ lead: Ended; workers: Ended[] }> {
    const all = await this.startAll();
    const lead = await all[0]!.ended;
    for (let index = 0; index < this.size; index++) await this.terminate(index);
    return { lead, workers: await Promise.all(all.slice(1).map(({ ended }) => ended)) };
  }

  /** Runs a command in a pod's broker container, as `kubectl exec` does. */
  async exec(index: number, command: readonly string[]): Promise<Ended> {
    const broker = this.running.get(index)!.at(-1)!;
    const inside = ['-t', String(await broker.pid), '-a', '--wdns=/', ...command];
    return ended(spawn('nsenter', inside, { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** SIGTERM to all containers of a pod. */
  async terminate(index: number): Promise<void> {
    for (const {
      pid,
      process: { exitCode, signalCode },
    } of this.running.get(index) ?? [])
      if (exitCode === null && signalCode === null) signal(await pid, 'SIGTERM');
  }

  /** Kills all containers of a pod, as the failure of its node does. */
  async kill(index: number): Promise<void> {
    for (const each of this.running.get(index) ?? []) {
      each.process.kill('SIGKILL');
      await each.ended;
    }
  }

  /** Kills all containers; the creator of the network removes the network. */
  async remove(): Promise<void> {
    for (const index of this.running.keys()) await this.kill(index);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private run(
    container: PodSpec['containers'][number],
    index: number,
    files: { volumes: ReadonlyMap<string, string>; hosts: string },
  ): Running {
    const command = sandbox({
      container,
      pod: this.pod,
      image: this.images(container.image),
      hostname: this.pod.hostNetwork === true ? `node-${index}` : this.hostname(index),
      environment: { JOB_COMPLETION_INDEX: String(index) },
      ...files,
    });
    const [program, ...args] = [...this.network.inside(this.first + index), ...command];
    const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    return { process: child, pid: childPid(child.stdio[3] as Readable), ended: ended(child) };
  }

  private hostname(index: number): string {
    return `${this.job.metadata.name}-${index}`;
  }

  private hostsFile(folder: string, own: number): string {
    const path = join(folder, 'hosts');
    // In a cluster, the kubelet writes the pod's own name and DNS has the others.
    const self = this.hostLines(own, this.hostname(own));
    const others = this.neighbours.flatMap((pods) => pods.dnsLines());
    writeFileSync(path, `${['127.0.0.1 localhost', ...self, ...this.dnsLines(), ...others].join('\n')}\n`);
    return path;
  }

  /** The DNS names of the cluster: the pods of the headless Service, or the pod behind a Service with an address. */
  private dnsLines(): string[] {
    const { subdomain } = this.pod;
    const { namespace = 'default' } = this.job.metadata;
    const domain = `${namespace}.svc.cluster.local`;
    const service = this.objects.find(
      ({ kind, metadata }) => kind === 'Service' && metadata.name === subdomain,
    );
    const headless = (service?.spec as { clusterIP?: string } | undefined)?.clusterIP === 'None';
    return headless
      ? Array.from({ length: SIZE - this.first }, (_, index) => {
          const short = `${this.hostname(index)}.${subdomain}`;
          return this.hostLines(index, `${short}.${domain} ${short}`);
        }).flat()
      : this.hostLines(0, `${subdomain}.${domain} ${subdomain}`);
  }

  /** One line for each address of a pod. */
  private hostLines(index: number, names: string): string[] {
    return this.network.addresses(this.first + index).map((address) => `${address} ${names}`);
  }
}

async function childPid(info: Readable): Promise<number> {
  let text = '';
  for await (const chunk of info) text += chunk;
  return (JSON.parse(text) as { 'child-pid': number })['child-pid'];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
