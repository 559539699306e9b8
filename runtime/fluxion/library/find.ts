/** Finds flux-sched's C library. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FluxqError } from '../../errors';

export const LIBRARY = 'libreapi_cli.so';

/** Install folders of flux-sched: distribution packages, its default prefix, the public images. */
const INSTALL_FOLDERS = [
  '/usr/lib/flux',
  '/usr/lib64/flux',
  '/usr/lib/x86_64-linux-gnu/flux',
  '/usr/lib/aarch64-linux-gnu/flux',
  '/usr/local/lib/flux',
  '/usr/local/lib64/flux',
  '/opt/flux/lib/flux',
  '/opt/flux-sched/lib/flux',
];

/**
 * @param configured path of the library or of its folder, which must exist
 * @param environment its FLUXION_LIBRARY applies when `configured` is undefined. @default process.env
 * @returns undefined when neither is set and the library is in none of the usual install folders
 * @throws FluxqError FLUXQ_FLUXION_LIBRARY
 */
export function findLibrary(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const named = configured ?? environment.FLUXION_LIBRARY;
  if (named === undefined || named === '') {
    return INSTALL_FOLDERS.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
  }
  const path = statSync(named, { throwIfNoEntry: false })?.isDirectory() ? join(named, LIBRARY) : named;
  if (!existsSync(path)) throw missingLibrary(named);
  return path;
}

export function missingLibrary(value: string | undefined): FluxqError {
  const text = value === undefined ? `${LIBRARY} is in none of the usual folders` : `there is no ${LIBRARY}`;
  return new FluxqError('FLUXQ_FLUXION_LIBRARY', text, {
    field: 'fluxion.library',
    ...(value === undefined ? {} : { value }),
    remedy: 'install flux-sched 0.53 or newer, set FLUXION_LIBRARY to its path, or set engine to embedded',
  });
}
