/** The plugin as krew installs it: the archive is unpacked, and its program is linked from another folder. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { version } from '../../package.json';
import { MODULES, run } from './packed';

const ROOT = join(__dirname, '..', '..');

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly files: readonly { readonly from: string }[];
    }[];
  };
}

let folder: string;
let manifest: Manifest;
const archive = () => join(folder, `kubectl-fluxqueue-v${version}.tar.gz`);
const sha256 = () => createHash('sha256').update(readFileSync(archive())).digest('hex');
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fluxqueue-krew-test-'));
  run(join(MODULES, '.bin', 'tsx'), ['release/krew.ts', folder], ROOT);
  manifest = parse(readFileSync(join(folder, 'fluxqueue.yaml'), 'utf8')) as Manifest;
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the manifest has the version, the archive of the release and its checksum', () => {
  const [platform] = manifest.spec.platforms;
  expect(manifest.spec.version).toBe(`v${version}`);
  expect(platform!.uri).toMatch(
    new RegExp(`^https://github\\.com/.*/download/v${version}/kubectl-fluxqueue-v${version}\\.tar\\.gz$`),
  );
  expect(platform!.sha256).toBe(sha256());
});

test('the archive is the same each time', () => {
  const before = sha256();
  run(join(MODULES, '.bin', 'tsx'), ['release/krew.ts', folder], ROOT);
  expect(sha256()).toBe(before);
});

test('the program runs from the store of krew', () => {
  const [platform] = manifest.spec.platforms;
  const store = join(folder, 'store');
  const bin = join(folder, 'bin');
  for (const path of [store, bin]) mkdirSync(path);
  run('tar', ['xzf', archive(), '-C', store, ...platform!.files.map(({ from }) => from)], folder);
  const program = join(bin, `kubectl-${manifest.metadata.name}`);
  symlinkSync(join(store, platform!.bin), program);
  const PATH = `PATH=${dirname(process.execPath)}:/usr/bin:/bin`;
  expect(run('env', [PATH, program, 'queue', '--help'], store)).toContain('--watch');
  expect(run('env', [PATH, program, 'completion', 'bash'], store)).toContain('complete -F');
});
