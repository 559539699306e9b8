/** The image with flux that the MiniCluster runs: the Flux of FLUX_PREFIX, as in test/boot, else a substitute. */
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable } from '../cluster/assets';
import { FLUX_IMAGE, REAL_FLUX_IMAGE } from './image-names';
import { linkedLibraries } from './library';

const execute = promisify(execFile);
const FAKE_FLUX = join(__dirname, '..', 'constructs', 'minicluster', 'fake-flux.sh');

/** What the figures name if no Flux is given. */
export const FAKE = 'fake';

/** Prefixes that also have programs of the system, which would replace those of the image. */
const SHARED_PREFIXES = ['/', '/usr', '/usr/local'];

/** What an image with flux is built from. */
interface FluxImage {
  readonly name: string;
  readonly containerfile: string;
  /** The inputs that determine the content of the image. */
  readonly key: readonly string[];
  readonly fill: (context: string) => void | Promise<void>;
}

function fluxPrefix(): string | undefined {
  const { FLUX_PREFIX = '' } = process.env;
  return FLUX_PREFIX === '' ? undefined : resolve(FLUX_PREFIX);
}

/** Why the rig cannot make an image with this Flux, in one sentence; undefined if it can, or if there is no prefix. */
export function fluxProblem(prefix: string | undefined = fluxPrefix()): string | undefined {
  if (prefix === undefined) return undefined;
  if (SHARED_PREFIXES.includes(prefix)) return `FLUX_PREFIX=${prefix} is not a folder of Flux alone`;
  return isExecutable(join(prefix, 'bin', 'flux')) ? undefined : `FLUX_PREFIX=${prefix} has no bin/flux`;
}

/** Returns the version of the Flux of FLUX_PREFIX, or `fake`. */
export function fluxVersion(): string {
  const prefix = fluxPrefix();
  if (prefix === undefined) return FAKE;
  return parseVersion(execFileSync(join(prefix, 'bin', 'flux'), ['version'], { encoding: 'utf8' }));
}

/** @internal */
export function parseVersion(output: string): string {
  const version = /^libflux-core:\s+(\S+)$/m.exec(output)?.[1];
  if (version === undefined) throw new Error(`flux version prints no version of libflux-core:\n${output}`);
  return version;
}

export function fluxImage(): FluxImage {
  const prefix = fluxPrefix();
  if (prefix === undefined) {
    return {
      name: FLUX_IMAGE,
      containerfile: 'flux.Containerfile',
      key: [readFileSync(FAKE_FLUX, 'utf8')],
      fill: (context) => {
        copyFileSync(FAKE_FLUX, join(context, 'flux'));
        chmodSync(join(context, 'flux'), 0o755);
      },
    };
  }
  const key = filesOf(prefix).map((file) => {
    const { size, mtimeMs } = statSync(file);
    return `${file} ${size} ${mtimeMs}`;
  });
  const fill = (context: string) => copyFlux(prefix, join(context, 'root'));
  return { name: REAL_FLUX_IMAGE, containerfile: 'real-flux.Containerfile', key, fill };
}

/** Copies the prefix under the same path, because Flux has absolute paths, and the libraries that it is linked with. */
async function copyFlux(prefix: string, root: string): Promise<void> {
  const programs = join(root, 'usr', 'local', 'bin');
  const libraries = join(root, 'usr', 'local', 'lib');
  cpSync(realpathSync(prefix), join(root, prefix), { recursive: true, verbatimSymlinks: true });
  mkdirSync(programs, { recursive: true });
  symlinkSync(join(prefix, 'bin', 'flux'), join(programs, 'flux'));
  mkdirSync(libraries, { recursive: true });
  const { stdout } = await execute('ldd', filesOf(prefix).filter(isLinked));
  for (const file of linkedLibraries(stdout, 'FLUX_PREFIX', prefix)) {
    if (relative(prefix, file).startsWith('..')) copyFileSync(file, join(libraries, basename(file)));
  }
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Whether the file is an ELF program (type 2) or an ELF library (type 3). */
function isLinked(file: string): boolean {
  const head = Buffer.alloc(18);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, head);
  } finally {
    closeSync(descriptor);
  }
  return head.toString('latin1', 0, 4) === '\x7fELF' && [2, 3].includes(head[16] ?? 0);
}
