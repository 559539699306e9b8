/** Builds one binary from a Go module under the names of several programs, once per machine, with progress messages and atomically. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError } from '../../runtime/errors';
import { lockFile } from './lock';
import { type OwnedProcess, ProcessSet } from './processes';

export interface BuildOptions {
  /** Name of the programs in progress messages, e.g. "the control plane". */
  readonly title: string;
  /** Duration and download size of the first build. */
  readonly cost: { readonly build: string; readonly download: string };
  /** Name of the binary; the programs are links to it. */
  readonly binary: string;
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
  /** Ends the build and all that it started. @default - it runs to its end */
  readonly signal?: AbortSignal | undefined;
}

/** The last progress line ends with this word, and the duration if it was built. */
export const BUILT = 'built';

/**
 * Builds into `folder`. One of several processes builds, the others wait.
 *
 * @throws FLUXQ_TEST_BUILD with the first errors of go.
 */
export async function buildPrograms(options: BuildOptions): Promise<void> {
  const { folder, progress, title } = options;
  mkdirSync(dirname(folder), { recursive: true });
  const lock = await lockFile(`${folder}.lock`, {
    done: options.done,
    signal: options.signal,
    waiting: (pid, ms) => progress(`waiting for process ${pid}, which builds ${title}: ${clock(ms)}`),
  });
  if (lock === undefined) {
    progress(`${title}: ${BUILT}`);
    return;
  }
  try {
    await build(options);
  } finally {
    lock.release();
  }
}

async function build(options: BuildOptions): Promise<void> {
  const { go, module, folder, programs, progress, title, cost, binary, signal } = options;
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
    const downloading = () =>
      progress(`downloading the Go modules of ${title} (${cost.download}): ${elapsed()}`);
    await finish(list, downloading, signal);
    const total = packages(list);

    const result = join(processes.directory, 'result');
    mkdirSync(result);
    const output = join(result, binary);
    const compile = await run('build', [...buildArgs(module), '-o', output, '.']);
    const compiling = () =>
      progress(
        `building ${title} (once, about ${cost.build}): ${packages(compile)} of ${total} packages, ${elapsed()}`,
      );
    await finish(compile, compiling, signal);
    for (const program of programs) {
      if (program !== binary) symlinkSync(binary, join(result, program));
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(result, folder);
    progress(`${title}: ${BUILT} in ${elapsed()}`);
  } finally {
    await processes.stop();
  }
}

function buildArgs(module: string): string[] {
  return [
    'build',
    '-v',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    ['-s -w', ...versionStamps(module)].join(' '),
  ];
}

/** Without these flags /version returns v0.0.0, which clients with a minimum version refuse. */
function versionStamps(module: string): string[] {
  const version = readFileSync(join(module, 'go.mod'), 'utf8').match(
    /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/,
  );
  if (version === null) return [];
  const [, gitVersion, gitMajor, gitMinor] = version;
  const stamps = {
    gitVersion,
    gitMajor,
    gitMinor,
    gitCommit: 'module',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  };
  return ['k8s.io/client-go/pkg/version', 'k8s.io/component-base/version'].flatMap((path) =>
    Object.entries(stamps).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
}

async function finish(
  process: OwnedProcess,
  tick: () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ended = process.exited;
  while (process.running) {
    tick();
    // The caller stops the process.
    await Promise.race([ended, delay(1000, undefined, { ...(signal && { signal }) })]);
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
