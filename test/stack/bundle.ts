/** The runtime as it is shipped: one file that starts in a fraction of a second. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const ROOT = join(__dirname, '..', '..');

/** Builds it into the cache folder of node_modules; returns its path. 0.2 s. */
export function bundleRuntime(): string {
  const outfile = join(ROOT, 'node_modules', '.cache', 'cdk8s-fluxqueue', `runtime-${process.pid}.js`);
  buildSync({
    entryPoints: [join(ROOT, 'runtime', 'main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    // Native, and needed only where flux-sched's library is.
    external: ['koffi', 'pg-native'],
    logLevel: 'error',
  });
  return outfile;
}
