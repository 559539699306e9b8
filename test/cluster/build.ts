/** Builds the binary of the control plane from Go modules, once per machine, with progress messages and atomically. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError } from '../../runtime/errors';
import { lockFile } from './lock';
import { type OwnedProcess, ProcessSet } from './processes';

export interface BuildOptions {
  /** The go command. */
  readonly go: string;
  /** Folder of the Go module. */
  readonly module: string;
  /** The folder of the finished programs, which appears atomically. */
  readonly folder: string;
  /** Whether the folder is complete, polled while another process builds it. */
  readonly done: () => boolean;
  /** The names of the links to the binary. */
  readonly programs: readonly string[];
  readonly progress: (line: string) => void;
}

/** Prefix of the last progress line. */
export const BUILT = 'the control plane is built';

/**
 * Builds into `folder`. One of several processes builds, the others wait.
 *
 * @throws FLUXQ_TEST_BUILD with the first errors of go.
 */
export async function buildControlPlane(options: BuildOptions): Promise<void> {
  const { folder, progress } = options;
  mkdirSync(dirname(folder), { recursive: true });
  const lock = await lockFile(`${folder}.lock`, {
    done: options.done,
    waiting: (pid, ms) =>
      progress(`waiting for process ${pid}, which builds the control plane: ${clock(ms)}`),
  });
  if (lock === undefined) {
    progress(BUILT);
    return;
  }
  try {
    await build(options);
  } finally {
    lock.release();
  }
}

async function build({ go, module, folder, programs, progress }: BuildOptions): Promise<void> {
  // In the folder of the result, so that the last step is a rename within one file system.
  const processes = ProcessSet.create(`${basename(folder)}.building`, dirname(folder));
  try {
    const env = {
      ...process.env,
      CGO_ENABLED: '0',
      GOWORK: 'off',
      // Removes the temporary files of a killed go with the directory.
      TMPDIR: processes.directory,
    };
    const run = (name: string, args: string[]) => processes.start(name, go, args, { cwd: module, env });
    const started = performance.now();
    const elapsed = () => clock(performance.now() - started);

    const list = await run('list', ['list', '-deps', '.']);
    await finish(list, () => progress(`downloading the control plane's Go modules (600 MB): ${elapsed()}`));
    const total = packages(list);

    const result = join(processes.directory, 'result');
    mkdirSync(result);
    const output = join(result, 'controlplane');
    const compile = await run('build', [...buildArgs(module), '-o', output, '.']);
    await finish(compile, () =>
      progress(
        `building the control plane (once, about 6 minutes): ${packages(compile)} of ${total} packages, ${elapsed()}`,
      ),
    );
    for (const program of programs) symlinkSync('controlplane', join(result, program));
    rmSync(folder, { recursive: true, force: true });
    renameSync(result, folder);
    progress(`${BUILT} in ${elapsed()}`);
  } finally {
    await processes.stop();
  }
}

function buildArgs(module: string): string[] {
  return ['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${versionStamps(module)}`];
}

/** Without these flags /version returns v0.0.0, which clients with a minimum version refuse. */
function versionStamps(module: string): string {
  const version = readFileSync(join(module, 'go.mod'), 'utf8').match(
    /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/,
  );
  if (version === null) {
    throw new FluxqError('FLUXQ_TEST_BUILD', 'go.mod does not require k8s.io/kubernetes', { field: module });
  }
  const [, gitVersion, gitMajor, gitMinor] = version;
  const stamps = {
    gitVersion,
    gitMajor,
    gitMinor,
    gitCommit: 'module',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  };
  return ['k8s.io/client-go/pkg/version', 'k8s.io/component-base/version']
    .flatMap((path) => Object.entries(stamps).map(([name, value]) => `-X ${path}.${name}=${value}`))
    .join(' ');
}

async function finish(process: OwnedProcess, tick: () => void): Promise<void> {
  const ended = process.exited;
  while (process.running) {
    tick();
    await Promise.race([ended, delay(1000)]);
  }
  const how = await ended;
  if (how === 'exit code 0') return;
  throw new FluxqError('FLUXQ_TEST_BUILD', `go ${process.name} ended with ${how}: ${errorsOf(process)}`, {
    remedy: 'check access to the Go module proxy and retry, or set KUBEBUILDER_ASSETS',
    retryable: true,
  });
}

/** Number of packages that go has printed so far. */
const packages = ({ logFile }: OwnedProcess): number =>
  readFileSync(logFile, 'utf8').match(/^(?!go: ).+$/gm)?.length ?? 0;

/** The first errors that go printed: its other lines are package paths. */
function errorsOf({ logFile }: OwnedProcess): string {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  return lines
    .filter((line) => /[:\s]/.test(line) && !line.startsWith('go: downloading'))
    .slice(0, 3)
    .join('; ');
}

function clock(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60
    ? `${seconds}s`
    : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}
