/** `fluxqueue up` where users run it: in an empty folder, from the tarball that npm has installed. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findAssets } from '../cluster/assets';
import { describeWithCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { PackedPackage, run } from './packed';

const shellOf = promisify(execFile);

/** Its files, and those of all that it starts. Postgres does not run as root, and has to reach its own. */
const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-up-'));
const temporary = join(folder, 'tmp');
let packed: PackedPackage;
let project: string;
let program: string;
beforeAll(() => {
  chmodSync(folder, 0o755);
  mkdirSync(temporary);
  packed = new PackedPackage();
  project = packed.project('empty');
  writeFileSync(join(project, 'package.json'), '{"private":true}');
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', packed.tarball], project);
  program = join(project, 'node_modules', '.bin', 'fluxqueue');
});
afterAll(() => {
  packed.remove();
  rmSync(folder, { recursive: true });
});

/** A machine with an empty cache. */
function machine(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, NODE_COMPILE_CACHE: __, ...env } = process.env;
  return { ...env, NODE_OPTIONS: '', TMPDIR: temporary, XDG_CACHE_HOME: join(folder, 'cache'), ...more };
}

class Up {
  output = '';
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown[]>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv, script = program) {
    this.child = spawn(process.execPath, [script, 'up', ...args], { cwd: project, env });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.closed = once(this.child, 'close');
  }

  async says(text: string): Promise<void> {
    const isOver = () => this.output.includes(text) || this.child.exitCode !== null;
    await waitFor(`it to say: ${text}`, isOver, { timeoutMs: 180_000 });
    if (!this.output.includes(text)) throw new Error(`it ended before it said "${text}":\n${this.output}`);
  }

  interrupt(): void {
    this.child.kill('SIGINT');
  }

  /** The exit code. */
  async end(): Promise<unknown> {
    return (await this.closed)[0];
  }
}

/** Whether a process has something to do with the files of this test. */
function processesLeft(): boolean {
  return execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).includes(folder);
}

describeWithCluster(
  'a local cluster in an empty folder',
  (programs) => {
    const env = () => machine({ KUBEBUILDER_ASSETS: programs().folder });

    test('runs manifests of its user until Ctrl-C, and leaves nothing but its cache', async () => {
      const up = new Up(['--nodes', '3'], env());
      await up.says('Your own jobs');
      expect(up.output).toMatch(/in your browser: http:\/\/127\.0\.0\.1:\d+\//);
      const [use] = [...up.output.matchAll(/^ {2}(export .*)$/gm)].map(([, command]) => command!);
      const own = up.output.match(/^Your own jobs: (.*) \(namespace science\)$/m)![1]!;
      const shell = async (command: string) =>
        (await shellOf('/bin/sh', ['-c', `${use}; ${command}`], { cwd: project })).stdout;
      expect(await shell('kubectl get nodes -o name')).toBe('node/node-0\nnode/node-1\nnode/node-2\n');
      const [, name] = /^job\.batch\/(\S+) created$/m.exec(await shell(own))!;
      await shell(`kubectl wait -n science --for=condition=complete --timeout=60s job/${name}`);
      expect(await shell('kubectl fluxqueue queue -n science --all')).toContain(`job/${name}`);
      up.interrupt();
      expect(await up.end()).toBe(0);
      await waitFor('its processes to be gone', () => !processesLeft());
      expect(readdirSync(temporary).filter((file) => file.startsWith('fluxqueue-'))).toEqual([]);
      const cached = readdirSync(join(folder, 'cache', 'cdk8s-fluxqueue'));
      expect(cached).toEqual(['compiled', expect.stringMatching(/^postgres-[\d.]+.*-\w+-\w+$/)]);
    });

    test('plays the demo first, if it is asked to', async () => {
      const up = new Up(['--demo', '--nodes', '4', '--jobs', '4'], env());
      await up.says('4 of 4 finished');
      await up.says('kubectl fluxqueue why impossible -n demo');
      up.interrupt();
      expect(await up.end()).toBe(0);
      await waitFor('its processes to be gone', () => !processesLeft());
    });

    test('Ctrl-C while it starts ends what has started', async () => {
      const up = new Up([], env());
      await up.says('starting a control plane with 20 simulated nodes');
      up.interrupt();
      expect(await up.end()).toBe(130);
      await waitFor('its processes to be gone', () => !processesLeft());
    });
  },
  async () => {
    const { kubectl } = await findAssets();
    return { folder: dirname(kubectl), stop: async () => undefined };
  },
);

test('npx finds the program in the tarball alone', () => {
  const nowhere = packed.project('nowhere');
  writeFileSync(join(nowhere, 'package.json'), '{"private":true}');
  const npx = ['--yes', '--prefer-offline', `file:${packed.tarball}`, 'up', '--help'];
  expect(run('npx', npx, nowhere)).toContain('--demo');
});

describe('a machine on which it cannot run', () => {
  async function expectSentence(env: NodeJS.ProcessEnv, sentence: RegExp, script = program): Promise<void> {
    const up = new Up([], machine({ KUBEBUILDER_ASSETS: '', FLUXQUEUE_DOWNLOADS: 'off', ...env }), script);
    expect([await up.end(), up.output]).toEqual([1, expect.stringMatching(sentence)]);
  }

  test('has no Go', () =>
    expectSentence(
      { PATH: '/nowhere', XDG_CACHE_HOME: join(folder, 'none') },
      /^FLUXQ_TEST_GO: no build of the control plane was found and Go is not installed .*; install Go 1\.\d+ or, .*\n$/,
    ));

  test('has programs of the control plane that are not complete', () =>
    expectSentence(
      { KUBEBUILDER_ASSETS: folder },
      /^FLUXQ_TEST_ASSETS: KUBEBUILDER_ASSETS: .*; add the programs.*\n$/,
    ));

  test('has only the program, as krew installs it', async () => {
    const alone = join(folder, 'kubectl-fluxqueue.js');
    copyFileSync(join(project, 'node_modules', 'cdk8s-fluxqueue', 'runtime.js'), alone);
    await expectSentence({}, /^FLUXQ_UP_MISSING: .*; run npx cdk8s-fluxqueue up\n$/, alone);
  });
});
