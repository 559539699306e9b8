import { basename } from 'node:path';
import { FluxqError } from '../../runtime/errors';

/** Libraries that every Debian image has. They must match the loader of the image. */
const OF_THE_SYSTEM = /^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\.so/;

/**
 * Returns a library and its dependencies without the C library.
 *
 * @param ldd the output of ldd
 * @throws FLUXQ_TEST_IMAGE if the loader does not find one of them, because the image would not start
 */
export function libraryClosure(library: string, ldd: string): string[] {
  return [library, ...linkedLibraries(ldd, 'FLUXION_LIBRARY', library)];
}

/**
 * Returns the libraries in the output of ldd, for one file or several, without the C library.
 *
 * @throws FLUXQ_TEST_IMAGE with the field and its value if the loader does not find one of them
 */
export function linkedLibraries(ldd: string, field: string, value: string): string[] {
  const missing = [...ldd.matchAll(/(\S+) => not found/g)].map(([, name]) => name);
  if (missing.length > 0) {
    throw new FluxqError('FLUXQ_TEST_IMAGE', `depends on ${missing.join(', ')}, which ldd does not find`, {
      field,
      value,
      remedy: 'name the folders of these libraries in LD_LIBRARY_PATH',
    });
  }
  const paths = [...ldd.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)].map(([, path = '']) => path);
  return [...new Set(paths)].filter((path) => !OF_THE_SYSTEM.test(basename(path)));
}
