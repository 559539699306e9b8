import { basename } from 'node:path';
import { FluxqError } from '../../runtime/errors';

/** What every image of Debian has: taken from there, because the loader must fit it. */
const OF_THE_SYSTEM = /^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\.so/;

/**
 * A library and everything that it is linked with but the C library.
 *
 * @param ldd what ldd prints for it
 * @throws FLUXQ_TEST_IMAGE where the loader does not find one of them: the image would not start
 */
export function libraryClosure(library: string, ldd: string): string[] {
  const missing = [...ldd.matchAll(/(\S+) => not found/g)].map(([, name]) => name);
  if (missing.length > 0) {
    throw new FluxqError(
      'FLUXQ_TEST_IMAGE',
      `is linked with ${missing.join(', ')}, which ldd does not find`,
      {
        field: 'FLUXION_LIBRARY',
        value: library,
        remedy: 'name the folders of these libraries in LD_LIBRARY_PATH',
      },
    );
  }
  const paths = [...ldd.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)].map(([, path = '']) => path);
  return [library, ...paths.filter((path) => !OF_THE_SYSTEM.test(basename(path)))];
}
