/** One real node: containerd and a kubelet in the sandbox, with a separate bridge, cgroup and folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { OwnedProcess, ProcessSet } from '../cluster/processes';
import { waitFor } from '../cluster/wait';
import { BASE_IMAGE } from './image-names';
import type { Images } from './images';
import type { Sandbox } from './sandbox';

export const POD_NETWORK = '10.245.0.0/16';

export interface NodeSettings {
  readonly name: string;
  /** 1, 2, …; the pods of the node have the addresses 10.245.INDEX.0/24. */
  readonly index: number;
  readonly kubelet: string;
  readonly kubeconfig: string;
  /** Address of the DNS server of the cluster. */
  readonly dns: string;
}

export class RealNode {
  private readonly folder: string;
  private readonly socket: string;
  private readonly running: OwnedProcess[] = [];
  /** Folder for the data of local PersistentVolumes. */
  readonly volumes: string;

  constructor(
    private readonly settings: NodeSettings,
    private readonly sandbox: Sandbox,
    private readonly processes: ProcessSet,
  ) {
    this.folder = join(processes.directory, settings.name);
    this.socket = join(this.folder, 'containerd.sock');
    this.volumes = join(this.folder, 'volumes');
    mkdirSync(join(this.folder, 'cni'), { recursive: true });
    mkdirSync(this.volumes);
  }

  get name(): string {
    return this.settings.name;
  }

  /** Creates the bridge that connects the pods, with the address of the node. It survives a power failure. */
  async makeBridge(): Promise<void> {
    const { index } = this.settings;
    const bridge = bridgeName(index);
    await this.sandbox.run('ip', 'link', 'add', bridge, 'type', 'bridge');
    await this.sandbox.run('ip', 'addr', 'add', `${gateway(index)}/24`, 'dev', bridge);
    await this.sandbox.run('ip', 'link', 'set', bridge, 'up');
  }

  /** Starts containerd. The kubelet starts later, after the import of the images. */
  async startContainerd(): Promise<void> {
    const config = join(this.folder, 'containerd.toml');
    writeFileSync(config, containerdConfig(this.folder, this.socket));
    writeFileSync(
      join(this.folder, 'cni', '10-bridge.conflist'),
      networkConfig(this.settings.index, this.folder),
    );
    const containerd = await this.start('containerd', 'containerd', ['-c', config]);
    await waitFor(`containerd of ${this.name}`, async () => {
      if (!containerd.running) throw new Error(containerd.logTail());
      return (await this.ctr('version')) !== '';
    });
  }

  async startKubelet(): Promise<void> {
    const { name, index, kubelet, kubeconfig } = this.settings;
    const config = join(this.folder, 'kubelet.yaml');
    const cgroup = this.sandbox.makeCgroup(name);
    writeFileSync(config, stringify(this.kubeletConfig(cgroup)));
    // Restarts the kubelet like systemd: it exits while containerd still loads its state after a power failure.
    await this.start('kubelet', '/bin/sh', [
      '-c',
      'while :; do "$@"; sleep 1; done',
      'kubelet',
      kubelet,
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      `--node-ip=${gateway(index)}`,
      `--root-dir=${join(this.folder, 'kubelet')}`,
      `--cert-dir=${join(this.folder, 'pki')}`,
      '--v=1',
    ]);
  }

  async importImages({ archives }: Images): Promise<void> {
    for (const archive of archives) await this.ctr('images', 'import', archive);
  }

  /** Kills the first process of a container. */
  async killContainer(containerID: string): Promise<void> {
    await this.ctr('tasks', 'kill', '--signal', 'SIGKILL', containerID.replace('containerd://', ''));
  }

  /** Simulates a power failure: kills the kubelet, containerd and every container at once. */
  async powerOff(): Promise<void> {
    await Promise.all(this.running.splice(0).map((process) => process.kill()));
    this.sandbox.killCgroup(this.name);
  }

  async powerOn(): Promise<void> {
    await this.startContainerd();
    await this.startKubelet();
  }

  /** Returns the last log lines of the node's programs, for error messages. */
  logTail(lines = 20): string {
    return this.running.map((process) => process.logTail(lines)).join('\n');
  }

  private ctr(...args: readonly string[]): Promise<string> {
    return this.sandbox.run('ctr', '--address', this.socket, '--namespace', 'k8s.io', ...args);
  }

  private async start(program: string, file: string, args: readonly string[]): Promise<OwnedProcess> {
    const [enter = '', ...options] = this.sandbox.enterAll;
    const command = [...options, file, ...args];
    const process = await this.processes.start(`${this.name}-${program}`, enter, command);
    this.running.push(process);
    return process;
  }

  private kubeletConfig(cgroup: string): object {
    return {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address: gateway(this.settings.index),
      healthzPort: 0,
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      containerRuntimeEndpoint: `unix://${this.socket}`,
      podLogsDir: join(this.folder, 'pods'),
      cgroupDriver: 'cgroupfs',
      cgroupRoot: cgroup,
      failCgroupV1: false,
      failSwapOn: false,
      // A nested container is not allowed to lower the score.
      oomScoreAdj: 0,
      clusterDNS: [this.settings.dns],
      clusterDomain: 'cluster.local',
      resolvConf: '',
      // The disk of the machine may be nearly full, which is not under test.
      evictionHard: { 'nodefs.available': '1%' },
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 99,
      serializeImagePulls: false,
      nodeLeaseDurationSeconds: 12,
      // A usual value for machines with 2 cores: 1930m are allocatable.
      kubeReserved: { cpu: '70m', memory: '256Mi' },
    };
  }
}

const bridgeName = (index: number): string => `pods${index}`;

/** The address of the node. */
const gateway = (index: number): string => `10.245.${index}.1`;

function networkConfig(index: number, folder: string): string {
  const bridge = {
    type: 'bridge',
    bridge: bridgeName(index),
    isGateway: true,
    ipMasq: false,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: `10.245.${index}.0/24` }]],
      routes: [{ dst: '0.0.0.0/0' }],
      dataDir: join(folder, 'ipam'),
    },
  };
  const portmap = { type: 'portmap', capabilities: { portMappings: true } };
  return JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins: [bridge, portmap] });
}

/** Disables the plugins that need rights or devices that a container does not have. */
function containerdConfig(folder: string, socket: string): string {
  const off = [
    'snapshotter.v1.btrfs',
    'snapshotter.v1.zfs',
    'snapshotter.v1.aufs',
    'snapshotter.v1.devmapper',
  ];
  return `
version = 2
root = "${folder}/containerd"
state = "${folder}/containerd-run"
oom_score = 0
disabled_plugins = ${JSON.stringify([...off, 'internal.v1.opt'].map((name) => `io.containerd.${name}`))}
[grpc]
  address = "${socket}"
[ttrpc]
  address = "${socket}.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${BASE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}
