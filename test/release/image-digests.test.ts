/** Digests of images: one file, which a release fills from the registries. The registry is a stand-in here. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_IMAGES, IMAGE_TAGS, pinned } from '../../constructs/images';

const ROOT = join(__dirname, '../..');
const DIGEST = `sha256:${'a1'.repeat(32)}`;

describe('the digests of images', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-digests-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A docker that answers with this text. */
  function install(answer: string, status = 0): void {
    const path = join(folder, 'docker');
    writeFileSync(path, `#!/bin/sh\necho "$*" >>'${folder}/log'\necho '${answer}'\nexit ${status}\n`);
    chmodSync(path, 0o755);
  }

  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'release/image-digests.ts', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, PATH: folder, FLUXQUEUE_IMAGE_DIGESTS: folder },
    });

  test('are asked of the registries and written for every image of the stack', () => {
    install(DIGEST);
    expect(run().stderr).toBe('');
    const written = JSON.parse(readFileSync(join(folder, 'image-digests.json'), 'utf8'));
    expect(written).toEqual(Object.fromEntries(Object.values(IMAGE_TAGS).map((image) => [image, DIGEST])));
    expect(readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')).toEqual(
      Object.values(IMAGE_TAGS).map(
        (image) => `buildx imagetools inspect --format {{.Manifest.Digest}} ${image}`,
      ),
    );
    const { stdout } = run('--outputs');
    expect(stdout).toContain(
      `runtime-name=${IMAGE_TAGS.runtime.replace(/:[^:]*$/, '')}\nruntime-digest=${DIGEST}\n`,
    );
  });

  test.each([
    ['not a digest', 0],
    ['not found', 1],
  ])('are not written when docker says: %s', (answer, status) => {
    install(answer, status);
    const result = run();
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(
      `FLUXQ_IMAGES_DIGEST: ${IMAGE_TAGS.runtime}: docker names no digest: ${answer}`,
    );
    expect(readdirSync(folder).sort()).toEqual(['docker', 'log']);
  });

  test('are part of the reference of exactly the tag that they belong to', () => {
    expect(pinned('a:1', { 'a:1': DIGEST })).toBe(`a:1@${DIGEST}`);
    expect(pinned('a:2', { 'a:1': DIGEST })).toBe('a:2');
  });

  test('are not committed, because a tag of this checkout is not pushed yet', () => {
    expect(DEFAULT_IMAGES).toEqual(IMAGE_TAGS);
  });

  test('reach the manifests from that one file', () => {
    const copy = join(folder, 'constructs');
    mkdirSync(copy);
    for (const file of ['images.ts']) copyFileSync(join(ROOT, 'constructs', file), join(copy, file));
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    writeFileSync(join(copy, 'image-digests.json'), JSON.stringify({ [IMAGE_TAGS.postgres]: DIGEST }));
    const script = `import { DEFAULT_IMAGES } from '${copy}/images.ts'; console.log(DEFAULT_IMAGES.postgres)`;
    const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe(`${IMAGE_TAGS.postgres}@${DIGEST}`);
  });
});
