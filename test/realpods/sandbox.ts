/**
 * Namespaces of the kernel in which real nodes run: network, mounts and
 * processes. The first process inside holds them, and its end is the end of all:
 * the kernel kills every container, unmounts every volume and removes every
 * network device, whatever ended the test.
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
 * The kubelet sets these for the whole machine. Inside, files with the values
 * that it wants lie over them: it finds nothing to do.
 */
const SYSCTLS = {
  'vm/overcommit_memory': 1,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** Folders in which the programs leave files and sockets: empty inside, untouched outside. */
const PRIVATE_FOLDERS = ['/run', '/var/lib', '/var/log'];

/** Runs as the first process inside; `wait` also collects the orphans of dead containers. */
const INIT = [
  'set -e',
  ...PRIVATE_FOLDERS.map((folder) => `mount -t tmpfs -o mode=755 tmpfs ${folder}`),
  'mkdir -p /run/netns /run/lock /run/sysctl',
  ...Object.entries(SYSCTLS).map(([name, value], index) =>
    [`echo ${value} >/run/sysctl/${index}`, `mount --bind /run/sysctl/${index} /proc/sys/${name}`].join('\n'),
  ),
  'ip link set lo up',
  'echo 1 >/proc/sys/net/ipv4/ip_forward',
  // Traffic between two pods of one bridge has to meet kube-proxy's rules too.
  'echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables',
  'touch "$1"',
  'while :; do sleep 3600 & wait; done',
].join('\n');

const CGROUPS = '/sys/fs/cgroup';

export class Sandbox implements ClusterNetwork {
  /** Name of the cgroup under which every node has its own. */
  readonly cgroup: string;
  /** Enters the network only: without a fork, so signals reach the program itself. */
  readonly enter: readonly string[];
  /** Enters everything, for programs that make processes and mounts. */
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

  /** Starts it as the first process of the set, with a way from here to its address. */
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

  /** Runs a program inside to its end and returns what it printed. */
  async run(...command: readonly string[]): Promise<string> {
    const [file = '', ...args] = [...this.enterAll, ...command];
    const { stdout } = await execute(file, args, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  /** Makes a cgroup for one node and returns its path as the kubelet wants it. */
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

  /** Kills every process in containers of a node, as a power failure does. */
  killCgroup(node: string): void {
    const [root = CGROUPS] = cgroupRoots();
    for (const pid of cgroupProcesses(join(root, this.cgroup, node))) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // It ended by itself meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** Ends everything inside, and returns when nothing is left of it. */
  async stop(): Promise<void> {
    await this.holder.kill();
    await waitFor('the last process of the namespaces', () => !existsSync(`/proc/${this.init}`));
    await this.undertaker.finish();
  }
}

/** A veth pair between the namespace and this network. It goes with the namespace. */
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

/** Version 1 has a tree per controller, version 2 one for all. */
function cgroupRoots(): string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  const folders = readdirSync(CGROUPS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(CGROUPS, name)).filter((folder) => !folder.endsWith('/unified'));
}

function prepareCgroup(folder: string): void {
  // Version 1: without these no process can enter.
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const above = join(folder, '..', file);
    if (existsSync(join(folder, 'cgroup.controllers')) || !existsSync(above)) continue;
    writeFileSync(join(folder, file), readFileSync(above));
  }
  // Version 2: children have only the controllers that are passed on.
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

/** Removes the cgroups once they are empty, also when this process was killed: a shell that waits for its end. */
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
    const gone = once(this.shell, 'exit');
    this.shell.stdin.end();
    await gone;
  }
}
