/**
 * The images of the stack's pods, built without a registry: the images of this project by `npm run images` from its
 * Containerfiles, and substitutes for the images of others. Each is built once and kept as an archive whose name has a
 * hash of its sources.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { IMAGE_TAGS } from '../../constructs/images';
import { FluxqError } from '../../runtime/errors';
import { cacheDirectory } from '../cluster/assets';
import { lockFile } from '../cluster/lock';
import { packagedServer } from '../cluster/postgres-package';
import { fluxImage } from './flux';
import { BASE_IMAGE, FLUX_SCHED_IMAGE, NODE_IMAGE } from './image-names';
import { libraryClosure } from './library';

const execute = promisify(execFile);
const require_ = createRequire(__filename);
const ROOT = join(__dirname, '..', '..');
const CONTAINERFILES = join(__dirname, 'images');

export interface Images {
  /** Paths of the archives to import. */
  readonly archives: readonly string[];
}

export interface ImageOptions {
  /** Path of kube-scheduler for the scheduler of the stack, and the name of its image. @default - no such image */
  readonly scheduler?: { readonly program: string; readonly image: string };
  /** Library of flux-sched for the Fluxion service. @default - no image of that service */
  readonly library?: string;
  readonly progress: (line: string) => void;
}

/** How one image is built. */
interface Recipe {
  readonly name: string;
  /** The inputs that determine the content of the image. */
  readonly key: readonly string[];
  /** Images that must be built before this one. */
  readonly on: readonly Recipe[];
  readonly build: (store: Store) => Promise<void>;
}

/** Builds the missing images and returns all images that the nodes import. */
export async function findImages(options: ImageOptions): Promise<Images> {
  const { library, scheduler } = options;
  const store = new Store(options.progress);
  const base = baseRecipe();
  const node = nodeRecipe(base);
  const recipes = [postgresRecipe(base), fluxRecipe(base), runtimeRecipe(node, 'runtime')];
  if (scheduler !== undefined) recipes.push(schedulerRecipe(base, scheduler));
  if (library !== undefined) recipes.push(runtimeRecipe(node, 'fluxion', fluxSchedRecipe(base, library)));
  const archives: string[] = [];
  for (const recipe of [base, ...recipes]) archives.push(await store.archive(recipe));
  return { archives };
}

/** Whether all images of the stack without a library are built. */
export function imagesBuilt(): boolean {
  const base = baseRecipe();
  const recipes = [base, postgresRecipe(base), fluxRecipe(base), runtimeRecipe(nodeRecipe(base), 'runtime')];
  return recipes.every((recipe) => existsSync(archivePath(recipe)));
}

/** Bytes of the archive of the runtime's image, without compression. */
export function runtimeImageBytes(): number {
  return statSync(archivePath(runtimeRecipe(nodeRecipe(baseRecipe()), 'runtime'))).size;
}

const imagesDirectory = (): string => join(cacheDirectory(), 'realpods');

function archivePath({ name, key }: Recipe): string {
  const hash = createHash('sha256').update(key.join('\0')).digest('hex').slice(0, 16);
  return join(imagesDirectory(), `${name.replace(/.*\//, '').replace(/:.*/, '')}-${hash}.tar`);
}

/** Runs buildah with a separate storage, so that the images of the user stay unchanged. */
class Store {
  private readonly environment: NodeJS.ProcessEnv;

  constructor(private readonly progress: (line: string) => void) {
    const folder = imagesDirectory();
    mkdirSync(folder, { recursive: true });
    const configuration = join(folder, 'storage.conf');
    const [graph, run] = [join(folder, 'storage'), join(folder, 'storage-run')];
    writeFileSync(
      configuration,
      `[storage]\ndriver = "overlay"\ngraphroot = "${graph}"\nrunroot = "${run}"\n`,
    );
    this.environment = {
      ...process.env,
      CONTAINERS_STORAGE_CONF: configuration,
      BUILDAH_ISOLATION: 'chroot',
    };
  }

  /** Returns the path of the image archive, and builds it if it is missing. */
  async archive(recipe: Recipe): Promise<string> {
    const path = archivePath(recipe);
    const lock = await lockFile(join(imagesDirectory(), 'lock'), {
      done: () => existsSync(path),
      waiting: (pid) => this.progress(`waiting for process ${pid}, which builds images`),
    });
    if (lock === undefined) return path;
    try {
      await this.make(recipe);
      // In the folder of the result, so that the last step is a rename within one file system.
      const folder = mkdtempSync(join(imagesDirectory(), 'archive-'));
      const unfinished = join(folder, 'image.tar');
      await this.buildah('push', '--quiet', recipe.name, `docker-archive:${unfinished}:${recipe.name}`);
      this.removeOld(path);
      renameSync(unfinished, path);
      rmSync(folder, { recursive: true });
    } finally {
      lock.release();
    }
    return path;
  }

  /** Builds a Containerfile of this folder with a folder of files as its context. */
  async containerfile(
    name: string,
    file: string,
    fill: (folder: string) => void | Promise<void>,
  ): Promise<void> {
    const context = mkdtempSync(join(imagesDirectory(), 'context-'));
    try {
      await fill(context);
      const build = ['build', '--quiet', '--pull=never', '--build-arg', `BASE=${BASE_IMAGE}`];
      await this.buildah(...build, '-f', join(CONTAINERFILES, file), '-t', name, context);
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }

  /** Builds an image of the project as a user does. */
  async project(image: 'runtime' | 'fluxion'): Promise<void> {
    const registry = (await this.run('npm', ['config', 'get', 'registry'])).trim();
    const bases = [`NODE=${NODE_IMAGE}`, `FLUX_SCHED=${FLUX_SCHED_IMAGE}`, `NPM_CONFIG_REGISTRY=${registry}`];
    const buildArgs = bases
      .filter((text) => image === 'fluxion' || !text.startsWith('FLUX_SCHED'))
      .flatMap((text) => ['--build-arg', text]);
    await this.run('npm', ['run', '-s', 'images', '--', '--tool', 'buildah', '--only', image, ...buildArgs]);
  }

  run(file: string, args: readonly string[]): Promise<string> {
    return runLogged(file, args, this.environment, join(imagesDirectory(), 'build.log'));
  }

  private async make(recipe: Recipe): Promise<void> {
    const key = createHash('sha256').update(recipe.key.join('\0')).digest('hex');
    const done = join(imagesDirectory(), `${recipe.name.replace(/[/:]/g, '_')}.key`);
    if (existsSync(done) && readFileSync(done, 'utf8') === key) return;
    for (const image of recipe.on) await this.make(image);
    this.progress(`building the image ${recipe.name}`);
    rmSync(done, { force: true });
    await recipe.build(this);
    writeFileSync(done, key);
  }

  /** Removes the archives of earlier sources. */
  private removeOld(path: string): void {
    const prefix = path.replace(/[0-9a-f]{16}\.tar$/, '');
    for (const file of readdirSync(imagesDirectory())) {
      const old = join(imagesDirectory(), file);
      if (/^[0-9a-f]{16}\.tar$/.test(old.slice(prefix.length)) && old.startsWith(prefix)) rmSync(old);
    }
  }

  private buildah(...args: readonly string[]): Promise<string> {
    return this.run('buildah', args);
  }
}

/** @throws FLUXQ_TEST_IMAGE with the end of the output. */
async function runLogged(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  log: string,
): Promise<string> {
  const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', all: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk;
    text.all += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.all += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  writeFileSync(log, `${file} ${args.join(' ')}\n${text.all}\n`, { flag: 'a' });
  if (code === 0) return text.stdout;
  const tail = text.all.trimEnd().split('\n').slice(-15).join('\n');
  throw new FluxqError('FLUXQ_TEST_IMAGE', `${file} ${args[0]} failed:\n${tail}\n`, {
    remedy: `read the rest in ${log}`,
  });
}

const textOf = (file: string): string => readFileSync(join(CONTAINERFILES, file), 'utf8');

const CA_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
const NOT_NEEDED = ['doc', 'man', 'locale', 'info'].map(
  (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
);

function baseRecipe(): Recipe {
  const options = ['--variant=minbase', '--include=ca-certificates', ...NOT_NEEDED, 'bookworm'];
  return {
    name: BASE_IMAGE,
    on: [],
    key: [textOf('base.Containerfile'), ...options],
    build: (store) =>
      store.containerfile(BASE_IMAGE, 'base.Containerfile', async (context) => {
        await store.run('mmdebstrap', [...options, join(context, 'base.tar')]);
        copyFileSync(CA_BUNDLE, join(context, 'ca-certificates.crt'));
      }),
  };
}

function nodeRecipe(base: Recipe): Recipe {
  const node = join(dirname(require_.resolve('node/package.json')), 'bin', 'node');
  const { size } = statSync(node);
  return {
    name: NODE_IMAGE,
    on: [base],
    key: [...base.key, textOf('node.Containerfile'), String(size)],
    build: (store) =>
      store.containerfile(NODE_IMAGE, 'node.Containerfile', async (context) => {
        copyFileSync(node, join(context, 'node'));
        const npm = realpathSync((await store.run('/bin/sh', ['-c', 'command -v npm'])).trim());
        cpSync(join(dirname(npm), '..'), join(context, 'npm'), { recursive: true });
      }),
  };
}

function postgresRecipe(base: Recipe): Recipe {
  const name = IMAGE_TAGS.postgres;
  const server = packagedServer() ?? '';
  return {
    name,
    on: [base],
    key: [
      ...base.key,
      name,
      textOf('postgres.Containerfile'),
      readFileSync(join(server, '..', 'package.json'), 'utf8'),
    ],
    build: (store) =>
      store.containerfile(name, 'postgres.Containerfile', (context) =>
        cpSync(server, join(context, 'postgres'), { recursive: true, verbatimSymlinks: true }),
      ),
  };
}

function fluxRecipe(base: Recipe): Recipe {
  const { name, containerfile, key, fill } = fluxImage();
  return {
    name,
    on: [base],
    key: [...base.key, textOf(containerfile), ...key],
    build: (store) => store.containerfile(name, containerfile, fill),
  };
}

function schedulerRecipe(base: Recipe, { program, image }: { program: string; image: string }): Recipe {
  return {
    name: image,
    on: [base],
    key: [...base.key, image, textOf('scheduler.Containerfile'), program],
    build: (store) =>
      store.containerfile(image, 'scheduler.Containerfile', (context) =>
        copyFileSync(program, join(context, 'kube-scheduler')),
      ),
  };
}

function fluxSchedRecipe(base: Recipe, library: string): Recipe {
  return {
    name: FLUX_SCHED_IMAGE,
    on: [base],
    key: [...base.key, textOf('flux-sched.Containerfile'), library, String(statSync(library).mtimeMs)],
    build: (store) =>
      store.containerfile(FLUX_SCHED_IMAGE, 'flux-sched.Containerfile', async (context) => {
        const folder = join(context, 'fluxion');
        mkdirSync(folder);
        const { stdout } = await execute('ldd', [library]);
        for (const file of libraryClosure(library, stdout)) {
          copyFileSync(file, join(folder, basename(file)));
        }
      }),
  };
}

/** An image of the project; `other` is the base image of the Fluxion service. */
function runtimeRecipe(node: Recipe, image: 'runtime' | 'fluxion', other?: Recipe): Recipe {
  const name = IMAGE_TAGS[image];
  return {
    name,
    on: other === undefined ? [node] : [node, other],
    key: [...node.key, ...(other?.key ?? []), name, sourcesHash()],
    build: (store) => store.project(image),
  };
}

/** Returns a hash of all files that the Containerfiles copy. */
function sourcesHash(): string {
  const hash = createHash('sha256');
  const files = ['constructs', 'imports', 'runtime', 'release'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of [...files, join(ROOT, 'package.json'), join(ROOT, 'package-lock.json')].sort()) {
    hash.update(`${relative(ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}
