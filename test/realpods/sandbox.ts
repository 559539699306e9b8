/**
 * Kernel namespaces in which real nodes run: network, mount and process. The first process inside holds them. When it
 * exits, the kernel kills every container, unmounts every volume and removes every network device, even if the test was
 * killed.
 */
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { ClusterNetwork } from '../cluster/cluster';
import { childrenOf, type OwnedProcess, type ProcessSet } from '../cluster/processes';
import { waitFor } from '../cluster/wait';

const execute = promisify(execFile);

/**
 * The kubelet sets these for the whole machine. Inside the namespaces files with the expected values are mounted over
 * them, so that the kubelet changes nothing.
 */
const SYSCTLS = {
  'vm/overcommit_memory': 1,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** Folders for files and sockets of the programs: empty inside the namespaces, unchanged outside. */
const PRIVATE_FOLDERS = ['/run', '/var/lib', '/var/log'];

/** Runs as the first process inside; `wait` also reaps orphaned processes of containers. */
const INIT = [
  'set -e',
  ...PRIVATE_FOLDERS.map((folder) => `mount -t tmpfs -o mode=755 tmpfs ${folder}`),
  'mkdir -p /run/netns /run/lock /run/sysctl',
  ...Object.entries(SYSCTLS).map(([name, value], index) =>
    [`echo ${value} >/run/sysctl/${index}`, `mount --bind /run/sysctl/${index} /proc/sys/${name}`].join('\n'),
  ),
  'ip link set lo up',
  'echo 1 >/proc/sys/net/ipv4/ip_forward',
  // The rules of kube-proxy also apply to traffic between two pods of one bridge.
  'echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables',
  'touch "$1"',
  'while :; do sleep 3600 & wait; done',
].join('\n');

const CGROUPS = '/sys/fs/cgroup';

export class Sandbox implements ClusterNetwork {
  /** Name of the parent cgroup of the nodes. */
  readonly cgroup: string;
  /** Enters the network only. This needs no fork, so signals reach the program directly. */
  readonly enter: readonly string[];
  /** Enters all namespaces, for programs that create processes and mounts. */
  readonly enterAll: readonly string[];

  private constructor(
    private readonly holder: OwnedProcess,
    private readonly init: number,
    readonly address: string,
    private readonly undertaker: Undertaker,
    directory: string,
  ) {
    this.cgroup = basename(directory);
    this.enter = ['nsenter', `--net=/proc/${init}/ns/net`];
    this.enterAll = ['nsenter', `--target=${init}`, '--net', '--mount', '--pid'];
  }

  /** Starts the first process of the namespaces and adds a route from this network to its address. */
  static async create(processes: ProcessSet): Promise<Sandbox> {
    const { directory } = processes;
    const ready = join(directory, 'sandbox-ready');
    const undertaker = new Undertaker(basename(directory));
    const unshare = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const holder = await processes.start('sandbox', 'unshare', [
      ...unshare,
      '/bin/sh',
      '-c',
      INIT,
      'sandbox',
      ready,
    ]);
    await waitFor('the namespaces', () => {
      if (!holder.running) throw new Error(holder.logTail());
      return existsSync(ready);
    });
    const [init = 0] = childrenOf(holder.pid);
    const address = await connect(init);
    return new Sandbox(holder, init, address, undertaker, directory);
  }

  /** Runs a program inside and returns its output. */
  async run(...command: readonly string[]): Promise<string> {
    const [file = '', ...args] = [...this.enterAll, ...command];
    const { stdout } = await execute(file, args, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  /** Creates the cgroup of a node and returns its path in the form that the kubelet expects. */
  makeCgroup(node: string): string {
    for (const root of cgroupRoots()) {
      const parent = join(root, this.cgroup);
      for (const folder of [parent, join(parent, node)]) {
        mkdirSync(folder, { recursive: true });
        prepareCgroup(folder);
      }
    }
    return `/${this.cgroup}/${node}`;
  }

  /** Kills every process in the containers of a node. */
  killCgroup(node: string): void {
    const [root = CGROUPS] = cgroupRoots();
    for (const pid of cgroupProcesses(join(root, this.cgroup, node))) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // The process has exited already.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** Stops all processes inside and returns when they have exited. */
  async stop(): Promise<void> {
    await this.holder.kill();
    await waitFor('the last process of the namespaces', () => !existsSync(`/proc/${this.init}`));
    await this.undertaker.finish();
  }
}

/** Creates a veth pair between the namespace and this network. The kernel removes it with the namespace. */
async function connect(init: number): Promise<string> {
  const here = Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address));
  const pick = () => `10.246.${randomInt(256)}.${4 * randomInt(64)}`;
  let network = pick();
  while (here.includes(next(network, 1))) network = pick();
  const [outer, inner] = [next(network, 1), next(network, 2)];
  const device = `fq${init}`;
  const ip = (...args: string[]) => execute('ip', args);
  const inside = (...args: string[]) => execute('nsenter', [`--net=/proc/${init}/ns/net`, 'ip', ...args]);
  await ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', String(init));
  await ip('addr', 'add', `${outer}/30`, 'dev', device);
  await ip('link', 'set', device, 'up');
  await inside('addr', 'add', `${inner}/30`, 'dev', 'uplink');
  await inside('link', 'set', 'uplink', 'up');
  await inside('route', 'add', 'default', 'via', outer);
  return inner;
}

function next(address: string, steps: number): string {
  const [a, b, c, d] = address.split('.').map(Number);
  return [a, b, c, (d ?? 0) + steps].join('.');
}

/** cgroup v1 has one tree per controller, v2 has one tree. */
function cgroupRoots(): string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  const folders = readdirSync(CGROUPS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(CGROUPS, name)).filter((folder) => !folder.endsWith('/unified'));
}

function prepareCgroup(folder: string): void {
  // v1: no process can be added to a cgroup without these values.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const above = join(folder, '..', file);
    if (existsSync(join(folder, 'cgroup.controllers')) || !existsSync(above)) continue;
    writeFileSync(join(folder, file), readFileSync(above));
  }
  // v2: children have only the controllers that the parent enables.
  const controllers = join(folder, 'cgroup.controllers');
  if (!existsSync(controllers)) return;
  const words = readFileSync(controllers, 'utf8').trim().split(/\s+/).filter(Boolean);
  writeFileSync(join(folder, 'cgroup.subtree_control'), words.map((word) => `+${word}`).join(' '));
}

function cgroupProcesses(folder: string): number[] {
  const own = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...own, ...below.flatMap(({ name }) => cgroupProcesses(join(folder, name)))];
}

/** Starts a shell that waits for the end of this process and removes the cgroups, even if the process was killed. */
class Undertaker {
  private readonly shell;

  constructor(name: string) {
    const script = `
trap '' INT TERM HUP
cat >/dev/null
tries=0
while [ $tries -lt 100 ]; do
  left=
  for folder in ${CGROUPS}/"$1" ${CGROUPS}/*/"$1"; do
    [ -d "$folder" ] || continue
    find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null
    [ -d "$folder" ] && left=1
  done
  [ -z "$left" ] && break
  tries=$((tries + 1)); sleep 0.1
done`;
    this.shell = spawn('/bin/sh', ['-c', script, 'fluxqueue-undertaker', name], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.shell.unref();
    (this.shell.stdin as unknown as { unref(): void }).unref();
  }

  async finish(): Promise<void> {
    if (this.shell.exitCode !== null) return;
    this.shell.ref();
    const exited = once(this.shell, 'exit');
    this.shell.stdin.end();
    await exited;
  }
}
