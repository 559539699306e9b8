/** Where flux-sched's C library may be. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FluxqError } from '../../errors';

export const LIBRARY = 'libreapi_cli.so';

/** flux-sched's install folders: distribution packages, its own default prefix, the public images. */
const USUAL = [
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
 * @param configured path of the library or of its folder; it must be there then
 * @param environment where FLUXION_LIBRARY names the same. @default process.env
 * @returns undefined when it was not configured and is in none of the usual places
 * @throws FluxqError FLUXQ_FLUXION_LIBRARY
 */
export function findLibrary(
  configured: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const named = configured ?? environment.FLUXION_LIBRARY;
  if (named === undefined || named === '') {
    return USUAL.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
  }
  const path = statSync(named, { throwIfNoEntry: false })?.isDirectory() ? join(named, LIBRARY) : named;
  if (!existsSync(path)) throw missingLibrary(named);
  return path;
}

export function missingLibrary(value: string | undefined): FluxqError {
  const what = value === undefined ? `${LIBRARY} is in none of the usual places` : `there is no ${LIBRARY}`;
  return new FluxqError('FLUXQ_FLUXION_LIBRARY', what, {
    field: 'fluxion.library',
    ...(value === undefined ? {} : { value }),
    remedy:
      'install flux-sched 0.53 or newer, name the library in FLUXION_LIBRARY, or choose engine embedded',
  });
}
