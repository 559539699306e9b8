/** `npm run images` with stand-ins for the tools: what it asks of them. Real builds are a matter of test/realpods. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IMAGE_TAGS } from '../../constructs/images';
import { version } from '../../package.json';
import { bundleRuntime } from '../../release/bundle';

const ROOT = join(__dirname, '../..');

describe('npm run images', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-images-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const log = () => join(folder, 'log');
  const calls = () => (existsSync(log()) ? readFileSync(log(), 'utf8').trim().split('\n') : []);

  /** A tool that writes down its arguments, and its folder. */
  function install(tool: string, { works = true, builds = true } = {}): void {
    const path = join(folder, tool);
    writeFileSync(
      path,
      `#!/bin/sh\n[ "$1" = info ] && exit ${works ? 0 : 1}\necho "${tool} $*" >>'${log()}'\npwd >'${folder}/pwd'\nexit ${builds ? 0 : 3}\n`,
    );
    chmodSync(path, 0o755);
  }

  function images(...args: string[]) {
    return spawnSync(process.execPath, ['--import', 'tsx', 'release/images.ts', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, PATH: folder },
    });
  }

  test('both, under the names that the stack pulls', () => {
    install('buildah');
    const { status, stdout } = images();
    expect(calls()).toEqual([
      `buildah build -f runtime/Containerfile -t ${IMAGE_TAGS.runtime} .`,
      `buildah build -f runtime/fluxion/Containerfile -t ${IMAGE_TAGS.fluxion} .`,
    ]);
    expect(readFileSync(join(folder, 'pwd'), 'utf8').trim()).toBe(ROOT);
    expect([status, stdout]).toEqual([
      0,
      `built; props of FluxQueue: runtimeImage: '${IMAGE_TAGS.runtime}', fluxionImage: '${IMAGE_TAGS.fluxion}'\n`,
    ]);
  });

  test('another registry with a port, a tag, base images, one image, pushed', () => {
    install('docker');
    const { stdout } = images(
      ...['--registry', 'registry.example.org:5000/hpc', '--tag', 'test', '--only', 'fluxion', '--push'],
      ...['--build-arg', 'NODE=node:24', '--build-arg', 'FLUX_SCHED=registry.example.org/flux:1'],
    );
    const name = 'registry.example.org:5000/hpc/cdk8s-fluxqueue-fluxion:test';
    expect(calls()).toEqual([
      `docker build -f runtime/fluxion/Containerfile -t ${name} --build-arg NODE=node:24 --build-arg FLUX_SCHED=registry.example.org/flux:1 .`,
      `docker push ${name}`,
    ]);
    expect(stdout).toContain(`fluxionImage: '${name}'`);
  });

  test('only the registry: the tag is the version', () => {
    install('podman');
    images('--registry', 'localhost', '--only', 'runtime');
    expect(calls()).toEqual([
      `podman build -f runtime/Containerfile -t localhost/cdk8s-fluxqueue:${version} .`,
    ]);
  });

  test('a tool that does not answer is passed over', () => {
    install('podman', { works: false });
    install('docker', { works: false });
    install('buildah');
    expect(images('--only', 'runtime').status).toBe(0);
    expect(calls()).toEqual([expect.stringMatching(/^buildah /)]);
  });

  test('the tool that is asked for is used, or it is said that it does not work', () => {
    install('podman');
    install('docker', { works: false });
    expect(images('--tool', 'docker').stderr).toMatch(
      /^FLUXQ_IMAGES_TOOL: --tool: does not work here .*docker/,
    );
    expect(calls()).toEqual([]);
  });

  test('without any tool one sentence says so', () => {
    const { status, stderr } = images();
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^FLUXQ_IMAGES_TOOL: none of podman, docker, buildah works here; install .*\n$/),
    ]);
  });

  test('a build that fails ends it, and nothing is pushed', () => {
    install('buildah', { builds: false });
    const { status, stderr } = images('--push');
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^FLUXQ_IMAGES_BUILD: buildah build failed/)]);
    expect(calls()).toHaveLength(1);
  });

  test.each([
    [['--only', 'postgres'], '--only'],
    [['--build-arg', 'NODE'], '--build-arg'],
    [['--tool', 'kaniko'], '--tool'],
  ])('%j is refused', (args, option) => {
    install('buildah');
    const { status, stderr } = images(...args);
    expect([status, stderr]).toEqual([1, expect.stringContaining(option)]);
    expect(calls()).toEqual([]);
  });
});

test('the context of the builds is what the Containerfiles copy', () => {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines).toEqual([
    '*',
    '!package.json',
    '!package-lock.json',
    '!tsconfig.json',
    '!constructs',
    '!imports',
    '!runtime',
    '!release',
  ]);
});

test('the bundle of an image is the one that is tested, to the byte', () => {
  const context = mkdtempSync(join(tmpdir(), 'fluxqueue-context-'));
  try {
    const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    for (const [, name] of lines.flatMap((line) => [/^!(.+)$/.exec(line) ?? []]))
      if (name !== undefined) cpSync(join(ROOT, name), join(context, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
    const args = ['--import', 'tsx', 'release/bundle.ts', join(context, 'image.js')];
    expect(spawnSync(process.execPath, args, { cwd: context, encoding: 'utf8' }).stderr).toBe('');
    bundleRuntime(join(context, 'tested.js'));
    // esbuild names the modules by the place of the packages, which is a link here.
    const [image, tested] = ['image.js', 'tested.js'].map((name) =>
      readFileSync(join(context, name), 'utf8').replaceAll(/"[\w./-]*node_modules\//g, '"node_modules/'),
    );
    expect(image === tested).toBe(true);
  } finally {
    rmSync(context, { recursive: true });
  }
});
