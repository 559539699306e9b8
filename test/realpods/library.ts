import { basename } from 'node:path';

/** What every image of Debian has: taken from there, because the loader must fit it. */
const OF_THE_SYSTEM = /^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\.so/;

/**
 * A library and everything that it is linked with but the C library.
 *
 * @param ldd what ldd prints for it
 */
export function libraryClosure(library: string, ldd: string): string[] {
  const paths = [...ldd.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)].map(([, path = '']) => path);
  return [library, ...paths.filter((path) => !OF_THE_SYSTEM.test(basename(path)))];
}
