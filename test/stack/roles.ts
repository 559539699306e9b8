/** The roles of the runtime as processes, from the bundle that is shipped. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { bundleRuntime } from '../../release/bundle';
import type { ConfigInput } from '../../runtime/config';
import { freePorts } from '../cluster/ports';
import { type OwnedProcess, ProcessSet } from '../cluster/processes';
import { waitFor } from '../cluster/wait';

const run = promisify(execFile);

const ROOT = join(__dirname, '..', '..');
/** Inside node_modules, so that packages outside the bundle are found. */
const CACHE = join(ROOT, 'node_modules', '.cache', 'cdk8s-fluxqueue');
/** The package has the program already, and perhaps in a folder that is not to be written to. */
const SHIPPED = join(ROOT, 'runtime.js');

/** Environment variable with the file of the program, which one run of Jest bundles once. */
export const SHARED_BUNDLE = 'FLUXQUEUE_TEST_BUNDLE';

/** The program, where somebody has bundled it. */
function madeBundle(): string | undefined {
  if (existsSync(SHIPPED)) return SHIPPED;
  return process.env[SHARED_BUNDLE];
}

/**
 * In Jest no queue is busy: each test waits for the FluxJobs of its few workloads, which would follow some seconds later else. Suites
 * about that, the demo and the benchmarks have the pace of the product.
 */
const IN_JEST = process.env.JEST_WORKER_ID !== undefined;
const AT_ONCE = { busyPerSecond: 1_000 };

/** Milliseconds until a role that has ended is started again. */
const RESTART_MS = 1_000;

/** How a role is started beside its configuration. */
export interface RoleStart {
  readonly environment?: NodeJS.ProcessEnv;
  /** A command that executes the command behind it. @default [] */
  readonly through?: readonly string[];
}

/** Roles that end with this process; later ones first. */
export class Roles {
  private readonly processes = ProcessSet.create('fluxqueue-roles');
  /** The program as one file. */
  readonly bundle: string;
  private readonly isShared: boolean;
  private started = 0;
  private isStopped = false;
  private told: ((sentence: string) => void) | undefined;

  /** @param makeBundle writes the program of the roles to a file. @default - that of the package, else of this source */
  constructor(makeBundle?: (file: string) => void) {
    const made = makeBundle === undefined ? madeBundle() : undefined;
    this.isShared = made !== undefined;
    this.bundle = made ?? join(CACHE, `runtime-${process.pid}-${randomBytes(4).toString('hex')}.js`);
    if (made === undefined) (makeBundle ?? bundleRuntime)(this.bundle);
  }

  /** From now on a role that ends by itself is started again, as its Deployment does. @param told gets a sentence about each */
  restart(told: (sentence: string) => void): void {
    this.told = told;
  }

  /** Address of the Fluxion service that startFluxion starts. */
  get fluxionAddress(): string {
    return `unix:${join(this.processes.directory, 'fluxion.sock')}`;
  }

  /** The Fluxion service on a Unix socket, as beside the controller in a cluster. */
  startFluxion(config: NonNullable<ConfigInput['fluxion']> = {}): Promise<RoleProcess> {
    return this.start('fluxion', { fluxion: { listen: this.fluxionAddress, ...config } });
  }

  /** Resolves when it stands for election. */
  async startController(databaseUrl: string, config: ConfigInput, how: RoleStart = {}): Promise<RoleProcess> {
    const settings = IN_JEST ? { ...config, statuses: { ...AT_ONCE, ...config.statuses } } : config;
    const environment = { DATABASE_URL: databaseUrl, ...how.environment };
    const role = await this.start('controller', settings, environment, how.through);
    await waitFor('the controller', () => role.isReady());
    return role;
  }

  async start(
    name: string,
    config: ConfigInput,
    environment: NodeJS.ProcessEnv = {},
    through: readonly string[] = [],
  ): Promise<RoleProcess> {
    const [port = 0, metricsPort = 0] = await freePorts(2);
    const id = `${name}-${this.started++}`;
    const file = join(this.processes.directory, `${id}.yaml`);
    writeFileSync(
      file,
      stringify({ ...config, http: { host: '127.0.0.1', port }, metrics: { port: metricsPort } }),
    );
    const env = { ...process.env, ...environment };
    const [command = '', ...args] = [...through, process.execPath, this.bundle, name, '--config', file];
    const begin = () => this.processes.start(id, command, args, { env });
    const role = new RoleProcess(await begin(), port, metricsPort);
    void this.follow(name, role, begin);
    return role;
  }

  private async follow(name: string, role: RoleProcess, begin: () => Promise<OwnedProcess>): Promise<void> {
    for (;;) {
      const how = await role.process.exited;
      if (this.told === undefined || role.process.killed) return;
      this.told(`${name} has ended (${how}): it is started again`);
      await delay(RESTART_MS);
      if (this.isStopped) return;
      role.process = await begin();
    }
  }

  /** A one-shot role, to its end; what it says, on both streams. @throws when it fails */
  async once(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
    const env = { ...process.env, ...environment };
    const { stdout, stderr } = await run(process.execPath, [this.bundle, ...args], { env });
    return stdout + stderr;
  }

  /** A command that runs until it is stopped. */
  async command(args: readonly string[], environment: NodeJS.ProcessEnv) {
    const env = { ...process.env, ...environment };
    const id = `command-${this.started++}`;
    const child = await this.processes.start(id, process.execPath, [this.bundle, ...args], { env });
    return {
      /** Resolves when its log has the text. */
      says: (text: string) => waitFor(`the log to say: ${text}`, () => child.logTail().includes(text)),
      /** How it ended by itself, and its log. */
      ended: async () => `${await child.exited}\n${child.logTail()}`,
      /** The last lines of its log. */
      log: () => child.logTail(),
      /** @throws when it does not end like this after the signal */
      end: async (signal: 'SIGTERM' | 'SIGINT', how: string) => {
        await child.kill(signal);
        if ((await child.exited) !== how) throw new Error(`${await child.exited}:\n${child.logTail()}`);
      },
    };
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.processes.stop();
    if (!this.isShared) rmSync(this.bundle, { force: true });
  }
}

/** A role that runs, with its probes and metrics. */
export class RoleProcess {
  constructor(
    /** The one that runs, or ran last. */
    public process: OwnedProcess,
    private readonly port: number,
    private readonly metricsPort: number,
  ) {}

  /** @throws when the role has ended */
  async isReady(): Promise<boolean> {
    if (!this.process.running) throw new Error(`the role has ended:\n${this.process.logTail()}`);
    return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).ok;
  }

  /** What /readyz says. */
  async notReady(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).text();
  }

  /** The metrics page. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text();
  }

  /** SIGTERM, and waits for its end. */
  async stop(): Promise<void> {
    await this.process.kill('SIGTERM');
  }

  /** SIGKILL. */
  async crash(): Promise<void> {
    await this.process.kill('SIGKILL');
  }
}
