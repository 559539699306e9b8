/** The queue on which the lines of docs/cli.md run: some Jobs of the user ada, and a MiniCluster that reports. */

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { REPORT_AUDIENCE } from '../../../constructs/api/labels';
import type { FluxNumbers } from '../../../runtime/miniclusters/reports';
import { waitFor } from '../../cluster/wait';
import { send } from '../../miniclusters/reporting';
import { MiniClusters } from '../../stack/minicluster-objects';
import { podToken } from '../../stack/pod-token';
import { RUNTIME_ROLE } from '../../stack/runtime-role';
import type { Fixture } from '../../stack/suite';
import { ADA, giveRole } from '../../stack/users';
import type { Namespace } from '../../stack/workloads';
import { GROUPS, type Group, type Run, runOf } from './entries';
import type { Printed } from './page';
import { type RunOptions, Shell } from './shell';
import { steady } from './steady';

/** As the demo has them. */
export const NODES = { nodes: 20, nodeShape: { cpu: '16', memory: '64Gi' } };

const NAMESPACE = 'science';
const LOGIN = { AWS_ACCESS_KEY_ID: 'ada', AWS_SECRET_ACCESS_KEY: 'secret' };
/** What runs in the MiniCluster. */
const NUMBERS: FluxNumbers = {
  jobs: { pending: 3, running: 2, done: 10, failed: 1 },
  resources: {
    nodes: { free: 0, allocated: 2, down: 0 },
    cores: { free: 8, allocated: 24, down: 0 },
    gpus: { free: 0, allocated: 0, down: 0 },
  },
};

/** A report counts for a minute. */
const REPORT_MS = 10_000;
const ANYTHING = /(?:)/;

export class Scene {
  private readonly started = Date.now();
  private readonly shell: Shell;
  private readonly store: Server;
  /** As the lead broker of the MiniCluster. */
  private report: () => Promise<unknown> = async () => undefined;
  private reported = 0;

  private constructor(
    private readonly fixture: () => Fixture,
    private readonly science: Namespace,
  ) {
    const { cluster, postgres, roles } = fixture().stack;
    this.shell = new Shell({
      kubectl: cluster.kubectlPath,
      fluxqueue: roles.bundle,
      databaseUrl: postgres.url,
    });
    this.store = createServer((request, response) => {
      request.resume().on('end', () => response.end());
    });
  }

  static async start(fixture: () => Fixture, science: Namespace): Promise<Scene> {
    const scene = new Scene(fixture, science);
    await once(scene.store.listen(0, '127.0.0.1'), 'listening');
    await giveRole(fixture().stack.cluster, ADA, 'edit', NAMESPACE);
    scene.writeFiles();
    await scene.submit();
    return scene;
  }

  /** Runs the lines of all entries; what they print is the same at every time. */
  async printed(): Promise<readonly Printed[]> {
    const all: Printed[] = [];
    for (const { as, entries } of GROUPS)
      for (const entry of entries)
        for (const run of 'runs' in entry ? entry.runs : []) {
          await this.reportInTime();
          all.push(await this.print(runOf(run), as));
        }
    return all;
  }

  /** What a line prints. @throws if it ends with another exit code than its own */
  async print({ line, until = ANYTHING, exitCode = 0, interrupted }: Run, as: Group['as']): Promise<Printed> {
    return waitFor(
      `"${line}" to print what is expected`,
      async () => {
        const ended = await this.shell.run(line, this.options(as), interrupted ? until : undefined);
        if (ended.exitCode === exitCode && until.test(ended.output))
          return { line, output: steady(ended.output, this.started) };
        throw new Error(`it ended with ${ended.exitCode}:\n${ended.output}`);
      },
      // A line that changes something is run once.
      until === ANYTHING ? { timeoutMs: 0 } : { everyMs: 250 },
    );
  }

  async end(): Promise<void> {
    this.store.close();
    this.shell.remove();
    await new MiniClusters(this.fixture, NAMESPACE).clear();
  }

  private options(as: Group['as']): RunOptions {
    const { cluster } = this.fixture().stack;
    const kubeconfig = as === 'admin' ? cluster.kubeconfig : cluster.kubeconfigForUser(ADA);
    const { port } = this.store.address() as AddressInfo;
    const variables = { ...LOGIN, ROLE: RUNTIME_ROLE, STORE: `http://127.0.0.1:${port}` };
    return { kubeconfig, namespace: NAMESPACE, variables };
  }

  private writeFiles(): void {
    const dumps = join(this.shell.folder, 'dumps');
    mkdirSync(dumps);
    writeFileSync(join(dumps, 'fluxqueue-20261123-0900.dump'), 'a dump');
    for (const object of [
      job('train', { pods: 17, cores: 16, walltime: '1h' }),
      job('prepare', { pods: 1, cores: 1, walltime: '10m', runs: '2s' }),
      job('fit', { pods: 1, cores: 16, walltime: '1h' }),
      job('tune', { pods: 4, cores: 16, walltime: '30m' }),
      hello,
    ])
      writeFileSync(join(this.shell.folder, `${object.metadata.name}.json`), JSON.stringify(object));
  }

  private async submit(): Promise<void> {
    const apply = (file: string) => this.print({ line: `kubectl apply -f ${file}` }, 'user');
    await apply('prepare.json');
    await this.science.shown('prepare-job', 'Finished');
    await apply('train.json');
    await this.science.shown('train-job', 'Running');
    await apply('fit.json');
    await this.science.shown('fit-job', 'Running');
    await apply('hello.json');
    await this.reportAsLead();
    await apply('examples/jobs/wide.yaml');
    await this.science.shown('wide-job', 'Waiting', 'Reserved');
    await apply('tune.json');
    await this.science.shown('tune-job', 'Waiting', 'Busy');
    await apply('examples/jobs/impossible.yaml');
    await this.science.shown('impossible-job', 'Waiting', 'Unsatisfiable');
  }

  /** In place of the lead broker, which no simulated node starts. */
  private async reportAsLead(): Promise<void> {
    const clusters = new MiniClusters(this.fixture, NAMESPACE);
    const [lead] = await clusters.running('hello', 2);
    await clusters.phase('hello', 'Running');
    const contact = await clusters.reportContact('hello');
    const token = await podToken(this.fixture().client, lead!, REPORT_AUDIENCE);
    const body = JSON.stringify(NUMBERS);
    // The controller takes a few connections a second only, and closes the others.
    this.report = () =>
      waitFor('the report', async () => (await send(contact, { token, body })) === 204, { everyMs: 500 });
    await this.reportInTime();
  }

  private async reportInTime(): Promise<void> {
    if (Date.now() - this.reported < REPORT_MS) return;
    await this.report();
    this.reported = Date.now();
  }
}

interface Shape {
  readonly pods: number;
  readonly cores: number;
  readonly walltime: string;
  /** @default '1h' */
  readonly runs?: string;
}

function job(name: string, { pods, cores, walltime, runs = '1h' }: Shape) {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations: { 'fluxqueue/walltime': walltime } },
    spec: {
      parallelism: pods,
      completions: pods,
      completionMode: 'Indexed',
      template: {
        metadata: { annotations: { 'fluxqueue.test/duration': runs } },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${cores}` } } }],
        },
      },
    },
  };
}

const hello = {
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { name: 'hello' },
  spec: {
    size: 2,
    walltime: '1h',
    flux: { report: true },
    containers: [{ image: 'none', command: 'hostname', resources: { requests: { cpu: 16 } } }],
    pod: { annotations: { 'fluxqueue.test/duration': '1h' } },
  },
};
