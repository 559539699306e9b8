import { basename } from 'node:path';

/** Libraries that every Debian image has. They must match the loader of the image. */
const OF_THE_SYSTEM = /^(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv)\.so/;

/**
 * Returns a library and its dependencies without the C library.
 *
 * @param ldd the output of ldd
 */
export function libraryClosure(library: string, ldd: string): string[] {
  const paths = [...ldd.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)].map(([, path = '']) => path);
  return [library, ...paths.filter((path) => !OF_THE_SYSTEM.test(basename(path)))];
}
