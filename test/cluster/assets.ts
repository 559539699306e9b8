/** Where the control plane's programs come from: a folder given, or one built once and kept. */
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
  /** Called about once a second with one line while the programs are built. @default - silent */
  readonly progress?: (line: string) => void;
}

/** Our Go module, whose one binary is every program. */
const MODULE = join(__dirname, 'controlplane');

/**
 * The programs of KUBEBUILDER_ASSETS where that is set, else those in the
 * user's cache directory, built there first if need be (minutes, once).
 *
 * @throws FLUXQ_TEST_ASSETS when the folder given lacks some, FLUXQ_TEST_GO when nothing is cached
 * and there is no Go, FLUXQ_TEST_BUILD when the build fails.
 */
export async function findAssets({ progress = () => {} }: FindAssetsOptions = {}): Promise<Assets> {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given);
    if (missing.length > 0) {
      throw new FluxqError('FLUXQ_TEST_ASSETS', `the folder lacks ${missing.join(', ')}`, {
        field: 'KUBEBUILDER_ASSETS',
        value: given,
        remedy: 'add them, or unset the variable to have all of them built',
      });
    }
    return assetsIn(given);
  }
  const folder = cachedFolder();
  if (missingPrograms(folder).length > 0) {
    const go = goCommand();
    if (go === undefined) {
      throw new FluxqError('FLUXQ_TEST_GO', 'the control plane is not built and there is no Go to build it', {
        value: folder,
        remedy: 'install Go 1.26 or set KUBEBUILDER_ASSETS to a folder with the programs',
      });
    }
    const done = () => missingPrograms(folder).length === 0;
    await buildControlPlane({ go, module: MODULE, folder, done, programs: PROGRAMS, progress });
  }
  return assetsIn(folder);
}

/** Whether {@link findAssets} can succeed, found out without building; if not, why, in one sentence. */
export function controlPlaneAvailable(): { available: true } | { available: false; reason: string } {
  const given = process.env.KUBEBUILDER_ASSETS;
  if (given !== undefined && given !== '') {
    const missing = missingPrograms(given);
    if (missing.length === 0) return { available: true };
    return { available: false, reason: `KUBEBUILDER_ASSETS=${given} lacks ${missing.join(', ')}` };
  }
  if (missingPrograms(cachedFolder()).length === 0 || goCommand() !== undefined) return { available: true };
  return {
    available: false,
    reason: 'KUBEBUILDER_ASSETS is not set and there is no Go to build a control plane',
  };
}

/** Whether the programs are there already, so that nothing needs to be built. */
export function controlPlaneBuilt(): boolean {
  return missingPrograms(process.env.KUBEBUILDER_ASSETS || cachedFolder()).length === 0;
}

function cachedFolder(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(MODULE, file)));
  // A home directory may be shared by machines of several kinds.
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
    // accessSync has no other way to say no.
    return false;
  }
}
