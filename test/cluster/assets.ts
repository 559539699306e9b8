/** Finds the programs of the control plane: in a configured folder, or in a cache that is downloaded or built once. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { FluxqError } from '../../runtime/errors';
import { buildPrograms } from './build';
import { downloadPrograms } from './download';
import { type Release, releasesFor } from './releases';

const PROGRAMS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
] as const;
export type Program = (typeof PROGRAMS)[number];

/** The path of each program. */
export type Assets = Readonly<Record<Program, string>>;

export interface FindAssetsOptions {
  /** Gets a progress line about once per second while the programs are built. @default - no messages */
  readonly progress?: (line: string) => void;
  /** Ends a build and all that it started. @default - a build runs to its end */
  readonly signal?: AbortSignal | undefined;
}

/** A Go module of this project; its single binary contains all programs. */
export interface GoModule<P extends string = string> {
  /** Name of the programs in progress messages. */
  readonly title: string;
  readonly folder: string;
  /** Name of the binary and, with a hash of its sources, of its folder in the cache. */
  readonly binary: string;
  readonly programs: readonly P[];
  /** Duration of a build and size of its downloads. */
  readonly cost: { readonly build: string; readonly download: string };
}

const CONTROL_PLANE: GoModule<Program> = {
  title: 'the control plane',
  folder: join(__dirname, 'controlplane'),
  binary: 'controlplane',
  programs: PROGRAMS,
  cost: { build: '6 minutes', download: '600 MB' },
};

/**
 * Finds the programs in KUBEBUILDER_ASSETS if it is set, else in the cache directory of the user, where the first call
 * downloads them in a few seconds, or builds them in a few minutes.
 *
 * @throws FLUXQ_TEST_ASSETS when the configured folder is incomplete, FLUXQ_TEST_GO when the cache is empty and Go is
 * not installed, FLUXQ_TEST_BUILD when the build fails.
 */
export async function findAssets({ progress = () => {}, signal }: FindAssetsOptions = {}): Promise<Assets> {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given, PROGRAMS);
    if (missing.length > 0) {
      throw new FluxqError('FLUXQ_TEST_ASSETS', `the folder does not contain ${missing.join(', ')}`, {
        field: 'KUBEBUILDER_ASSETS',
        value: given,
        remedy: 'add the programs, or unset the variable to build them',
      });
    }
    return programsIn(given, PROGRAMS);
  }
  await downloadControlPlane({ progress, signal });
  return findPrograms(CONTROL_PLANE, progress, signal);
}

/** Where the programs are downloaded from: a mirror with the paths of the releases, or `off`. @default - their official hosts */
const DOWNLOADS = 'FLUXQUEUE_DOWNLOADS';

/** Downloads the programs into the cache, if they are not there and arrive within seconds. */
export async function downloadControlPlane({
  progress = () => {},
  signal,
}: FindAssetsOptions = {}): Promise<void> {
  const releases = releasesOfThisMachine();
  if (releases === undefined || programsBuilt(CONTROL_PLANE)) return;
  await downloadPrograms({
    releases,
    folder: cachedFolder(CONTROL_PLANE),
    done: () => programsBuilt(CONTROL_PLANE),
    progress,
    signal,
  });
}

function releasesOfThisMachine(): readonly Release[] | undefined {
  const from = process.env[DOWNLOADS];
  if (from === 'off') return undefined;
  const releases = releasesFor(process.platform, process.arch);
  if (!from) return releases;
  return releases?.map((release) => ({ ...release, url: `${from}${new URL(release.url).pathname}` }));
}

/**
 * The module's programs in the user's cache directory, built there first if need be.
 *
 * @throws FLUXQ_TEST_GO when nothing is cached and there is no Go, FLUXQ_TEST_BUILD when the build fails.
 */
export async function findPrograms<P extends string>(
  module: GoModule<P>,
  progress: (line: string) => void,
  signal?: AbortSignal,
): Promise<Readonly<Record<P, string>>> {
  const { title, binary, programs, cost } = module;
  const folder = cachedFolder(module);
  const done = () => missingPrograms(folder, programs).length === 0;
  if (!done()) {
    const go = goCommand();
    if (go === undefined) {
      throw new FluxqError('FLUXQ_TEST_GO', `no build of ${title} was found and Go is not installed`, {
        value: folder,
        remedy:
          'install Go 1.26 or, for the control plane, set KUBEBUILDER_ASSETS to a folder with the programs',
      });
    }
    const where = { go, module: module.folder, folder, done };
    await buildPrograms({ ...where, binary, programs, progress, title, cost, signal });
  }
  return programsIn(folder, programs);
}

/** Whether {@link findAssets} can succeed, checked without a build; else the reason. */
export function controlPlaneAvailable(): { available: true } | { available: false; reason: string } {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given, PROGRAMS);
    if (missing.length === 0) return { available: true };
    return { available: false, reason: `KUBEBUILDER_ASSETS=${given} does not contain ${missing.join(', ')}` };
  }
  if (programsBuilt(CONTROL_PLANE) || goCommand() !== undefined) return { available: true };
  return {
    available: false,
    reason: 'KUBEBUILDER_ASSETS is not set and Go is not installed to build a control plane',
  };
}

/** Whether the control plane is built already. */
export function controlPlaneBuilt(): boolean {
  const given = process.env.KUBEBUILDER_ASSETS;
  return given ? missingPrograms(given, PROGRAMS).length === 0 : programsBuilt(CONTROL_PLANE);
}

/** Whether the module's programs are in the cache. */
export const programsBuilt = (module: GoModule): boolean =>
  missingPrograms(cachedFolder(module), module.programs).length === 0;

/** Where what is built once per machine is kept. */
export function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'cdk8s-fluxqueue');
}

function cachedFolder({ folder, binary }: GoModule): string {
  const hash = createHash('sha256');
  const sources = readdirSync(folder).filter((file) => file.endsWith('.go'));
  for (const file of ['go.mod', 'go.sum', ...sources.sort()]) hash.update(readFileSync(join(folder, file)));
  // Machines of several architectures may share a home directory.
  hash.update(`${process.platform}-${process.arch}`);
  return join(cacheDirectory(), `${binary}-${hash.digest('hex').slice(0, 16)}`);
}

function programsIn<P extends string>(folder: string, programs: readonly P[]): Readonly<Record<P, string>> {
  return Object.fromEntries(programs.map((program) => [program, join(folder, program)])) as Record<P, string>;
}

function missingPrograms<P extends string>(folder: string, programs: readonly P[]): P[] {
  return programs.filter((program) => !isExecutable(join(folder, program)));
}

/** The path of the go command, if there is one. */
export function goCommand(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'go')).find(isExecutable);
}

/** Whether it is there and may be run. */
export function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // accessSync reports a missing permission only as an error.
    return false;
  }
}
