/**
 * `npm run -s krew -- [FOLDER [OWNER/NAME]]`: writes the plugin as krew installs it, by default to krew/: one archive for all platforms,
 * whose program is the bundle and needs nothing but Node, and the manifest `fluxqueue.yaml` with its checksum. The release of the
 * repository publishes both.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { version } from '../package.json';
import { bundleRuntime } from './bundle';

const ROOT = join(__dirname, '..');
const PROGRAM = 'kubectl-fluxqueue';
const ARCHIVE = `${PROGRAM}-v${version}.tar.gz`;

/** The same bytes for the same sources: without times and users. */
function packArchive(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-krew-'));
  try {
    const program = join(folder, PROGRAM);
    bundleRuntime(program);
    writeFileSync(program, `#!/usr/bin/env node\n${readFileSync(program, 'utf8')}`);
    chmodSync(program, 0o755);
    cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
    const options = [
      '--sort=name',
      '--mtime=@0',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--format=ustar',
    ];
    const tar = execFileSync('tar', ['-cf', '-', ...options, '-C', folder, 'LICENSE', PROGRAM], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return gzipSync(tar, { level: 9 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param home address of the repository */
function manifestOf(archive: Buffer, home: string): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'fluxqueue' },
    spec: {
      version: `v${version}`,
      homepage: home,
      shortDescription: 'Show, explain and steer the fluxqueue batch queue',
      description:
        'Shows what runs and waits in the batch queue fluxqueue and why, when it starts or would start, what has happened, and who uses it;\nholds, releases, requeues and cancels workloads with your own rights.\n',
      caveats: 'Needs Node 20 or newer as `node` in PATH.\n',
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
          uri: `${home}/releases/download/v${version}/${ARCHIVE}`,
          sha256: createHash('sha256').update(archive).digest('hex'),
          files: [
            { from: PROGRAM, to: '.' },
            { from: 'LICENSE', to: '.' },
          ],
          bin: PROGRAM,
        },
      ],
    },
  };
}

function main(folder = join(ROOT, 'krew'), repository = 'converged-computing/cdk8s-fluxqueue'): void {
  const archive = packArchive();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, ARCHIVE), archive);
  writeFileSync(
    join(folder, 'fluxqueue.yaml'),
    stringify(manifestOf(archive, `https://github.com/${repository}`)),
  );
  process.stdout.write(`${folder}\n`);
}

if (require.main === module) main(...process.argv.slice(2));
