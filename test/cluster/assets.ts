/** Finds the programs of the control plane: in a configured folder, or in a cache that is built once. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { FluxqError } from '../../runtime/errors';
import { buildControlPlane } from './build';

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
}

/** The Go module; its single binary contains all programs. */
const MODULE = join(__dirname, 'controlplane');

/**
 * Finds the programs in KUBEBUILDER_ASSETS if it is set, else in the cache directory of the user, where the first call
 * builds them in a few minutes.
 *
 * @throws FLUXQ_TEST_ASSETS when the configured folder is incomplete, FLUXQ_TEST_GO when the cache is empty and Go is
 * not installed, FLUXQ_TEST_BUILD when the build fails.
 */
export async function findAssets({ progress = () => {} }: FindAssetsOptions = {}): Promise<Assets> {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given);
    if (missing.length > 0) {
      throw new FluxqError('FLUXQ_TEST_ASSETS', `the folder does not contain ${missing.join(', ')}`, {
        field: 'KUBEBUILDER_ASSETS',
        value: given,
        remedy: 'add the programs, or unset the variable to build them',
      });
    }
    return assetsIn(given);
  }
  const folder = cachedFolder();
  if (missingPrograms(folder).length > 0) {
    const go = goCommand();
    if (go === undefined) {
      throw new FluxqError('FLUXQ_TEST_GO', 'the control plane is not built and Go is not installed', {
        value: folder,
        remedy: 'install Go 1.26 or set KUBEBUILDER_ASSETS to a folder with the programs',
      });
    }
    const done = () => missingPrograms(folder).length === 0;
    await buildControlPlane({ go, module: MODULE, folder, done, programs: PROGRAMS, progress });
  }
  return assetsIn(folder);
}

/** Whether {@link findAssets} can succeed, checked without a build; else the reason. */
export function controlPlaneAvailable(): { available: true } | { available: false; reason: string } {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given);
    if (missing.length === 0) return { available: true };
    return { available: false, reason: `KUBEBUILDER_ASSETS=${given} does not contain ${missing.join(', ')}` };
  }
  if (missingPrograms(cachedFolder()).length === 0 || goCommand() !== undefined) return { available: true };
  return {
    available: false,
    reason: 'KUBEBUILDER_ASSETS is not set and Go is not installed to build a control plane',
  };
}

/** Whether the programs exist already, so that no build is needed. */
export function controlPlaneBuilt(): boolean {
  return missingPrograms(process.env.KUBEBUILDER_ASSETS || cachedFolder()).length === 0;
}

function cachedFolder(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(MODULE, file)));
  // Machines of several architectures may share a home directory.
  hash.update(`${process.platform}-${process.arch}`);
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(cache, 'cdk8s-fluxqueue', `controlplane-${hash.digest('hex').slice(0, 16)}`);
}

function assetsIn(folder: string): Assets {
  return Object.fromEntries(PROGRAMS.map((program) => [program, join(folder, program)])) as Record<
    Program,
    string
  >;
}

function missingPrograms(folder: string): Program[] {
  return PROGRAMS.filter((program) => !isExecutable(join(folder, program)));
}

function goCommand(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'go')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // accessSync reports a missing permission only as an error.
    return false;
  }
}
