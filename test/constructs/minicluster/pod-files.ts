/** A pod of a MiniCluster as folders of this machine: its rendered files, its environment, a fake flux, one shell. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type ManifestObject,
  type MiniClusterSpec,
  renderMiniCluster,
} from '../../../constructs/minicluster';
import { filesOf, type Volume } from '../../boot/volumes';

/** Programs that minimal images have; bash is added on request. */
const PROGRAMS = [
  'cat',
  'chmod',
  'cp',
  'date',
  'env',
  'ln',
  'ls',
  'mkdir',
  'mv',
  'rm',
  'sleep',
  'touch',
  'true',
];

/** Paths in the pod that become folders below the root of the pod. */
const PATHS = [
  '/flux_operator',
  '/flux_software',
  '/mnt/flux',
  '/run/flux-curve',
  '/run/flux-report',
  '/etc/flux/curve',
  '/tmp/fluxout',
];

export type Shell = 'bash' | 'dash';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class PodFiles {
  readonly root = mkdtempSync(join(tmpdir(), 'fluxqueue-pod-'));
  readonly objects: readonly ManifestObject[];
  private readonly running: ChildProcess[] = [];

  constructor(
    spec: MiniClusterSpec,
    readonly shell: Shell,
  ) {
    this.objects = renderMiniCluster({ metadata: { name: 'mc', namespace: 'lab' }, spec });
    for (const path of PATHS) mkdirSync(this.path(path), { recursive: true });
    this.writePrograms();
    this.writeScripts();
    writeFileSync(this.path('/etc/flux/curve/curve.cert'), 'secret\n', { mode: 0o444 });
  }

  /** Path on this machine of a path in the pod. */
  path(inPod: string): string {
    return join(this.root, inPod);
  }

  has(inPod: string): boolean {
    return existsSync(this.path(inPod));
  }

  read(inPod: string): string {
    return readFileSync(this.path(inPod), 'utf8').replaceAll(this.root, '');
  }

  write(inPod: string, text: string): void {
    mkdirSync(dirname(this.path(inPod)), { recursive: true });
    writeFileSync(this.path(inPod), text);
  }

  /** The calls of flux, with the paths of the pod. */
  calls(): string[] {
    return this.has('calls') ? this.read('calls').trimEnd().split('\n') : [];
  }

  /** How often a broker got SIGTERM. */
  signals(): number {
    return this.has('calls.signals') ? this.read('calls.signals').trimEnd().split('\n').length : 0;
  }

  /** The first call of this subcommand. */
  call(subcommand: string): string | undefined {
    return this.calls().find((call) => call.startsWith(`<${subcommand}>`));
  }

  /** Starts a script of the pod; pod 0 unless the environment says otherwise. */
  start(script: string, args: readonly string[], environment: Record<string, string> = {}): ChildProcess {
    const child = spawn(join(this.root, 'bin/sh'), [this.path(`/flux_operator/${script}`), ...args], {
      cwd: this.root,
      env: {
        PATH: join(this.root, 'bin'),
        HOME: '/',
        JOB_COMPLETION_INDEX: '0',
        CALLS: this.path('calls'),
        ...environment,
      },
    });
    this.running.push(child);
    return child;
  }

  run(environment: Record<string, string> = {}): Promise<Ended> {
    return ended(this.start('start.sh', [], environment));
  }

  remove(): void {
    for (const child of this.running) if (child.exitCode === null) child.kill('SIGKILL');
    rmSync(this.root, { recursive: true, force: true });
  }

  private writePrograms(): void {
    const folder = join(this.root, 'bin');
    mkdirSync(folder);
    for (const name of PROGRAMS) symlinkSync(join('/bin', name), join(folder, name));
    symlinkSync('/bin/dash', join(folder, 'sh'));
    if (this.shell === 'bash') symlinkSync('/bin/bash', join(folder, 'bash'));
    copyFileSync(join(__dirname, 'fake-flux.sh'), join(folder, 'flux'));
    chmodSync(join(folder, 'flux'), 0o755);
  }

  private writeScripts(): void {
    for (const { at, text, mode } of filesOf(this.scripts(), this.objects)) {
      this.write(
        `/flux_operator/${at}`,
        PATHS.reduce((text, path) => text.replaceAll(path, this.path(path)), text),
      );
      chmodSync(this.path(`/flux_operator/${at}`), mode);
    }
  }

  private scripts(): Volume {
    const job = this.objects.find(({ kind }) => kind === 'Job' || kind === 'StatefulSet')!;
    const { volumes } = (job.spec as { template: { spec: { volumes: Volume[] } } }).template.spec;
    return volumes.find(({ projected }) => projected !== undefined)!;
  }
}

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}
