/**
 * `npm run images -- [--registry NAME] [--tag TAG] [--only IMAGE] [--push]`: builds the images of the two Containerfiles
 * with buildah, docker or podman. What the tool itself needs to be told goes in its own environment variables
 * (BUILDAH_ISOLATION, CONTAINERS_STORAGE_CONF, DOCKER_HOST).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { IMAGE_TAGS } from '../constructs/images';
import { FluxqError, messageOf } from '../runtime/errors';

const ROOT = join(__dirname, '..');

const TOOLS = ['podman', 'docker', 'buildah'] as const;
type Tool = (typeof TOOLS)[number];

interface Image {
  readonly containerfile: string;
  /** The prop of FluxQueue that names it. */
  readonly prop: string;
}

const IMAGES = {
  runtime: { containerfile: 'runtime/Containerfile', prop: 'runtimeImage' },
  fluxion: { containerfile: 'runtime/fluxion/Containerfile', prop: 'fluxionImage' },
} as const satisfies Record<string, Image>;
type ImageName = keyof typeof IMAGES;
const IMAGE_NAMES = Object.keys(IMAGES) as ImageName[];

interface Options {
  readonly registry?: string;
  readonly tag?: string;
  readonly only?: ImageName;
  readonly push: boolean;
  readonly buildArg: readonly string[];
  readonly tool?: Tool;
}

function parseOptions(argv: readonly string[]): Options {
  return new Command('npm run images --')
    .description('Builds the images of the runtime and of the Fluxion service.')
    .option('--registry <name>', 'registry and folder of both images, e.g. registry.example.org/hpc')
    .option('--tag <tag>', "tag of both images; default: this package's version")
    .addOption(new Option('--only <image>', 'builds one image').choices(IMAGE_NAMES))
    .option('--push', 'pushes each image once it is built', false)
    .option('--build-arg <NAME=VALUE>', 'NODE, FLUX_SCHED: base images; NPM_CONFIG_REGISTRY', collect, [])
    .addOption(new Option('--tool <name>', 'default: the first that answers').choices(TOOLS))
    .parse(argv)
    .opts<Options>();
}

function collect(text: string, others: readonly string[]): string[] {
  if (!/^\w+=/.test(text)) throw new InvalidArgumentError('must be NAME=VALUE.');
  return [...others, text];
}

/** ghcr.io/converged-computing/cdk8s-fluxqueue:0.1.0 with another registry or another tag. */
function imageName(image: ImageName, { registry, tag }: Options): string {
  const [, defaultRegistry, name, version] = /^(.*)\/([^/:]+):([^:]+)$/.exec(IMAGE_TAGS[image])!;
  return `${registry ?? defaultRegistry}/${name}:${tag ?? version}`;
}

/** A docker client without its daemon is installed but builds nothing: each tool is asked. */
function answers(tool: Tool): boolean {
  return spawnSync(tool, ['info'], { stdio: 'ignore' }).status === 0;
}

/** @throws FluxqError FLUXQ_IMAGES_TOOL */
function chooseTool(wanted: Tool | undefined): Tool {
  const found = (wanted === undefined ? TOOLS : [wanted]).find(answers);
  if (found !== undefined) return found;
  const what = wanted === undefined ? `none of ${TOOLS.join(', ')} works here` : 'does not work here';
  throw new FluxqError('FLUXQ_IMAGES_TOOL', what, {
    ...(wanted === undefined ? {} : { field: '--tool', value: wanted }),
    remedy: "install one of them (Debian: apt-get install buildah), or start docker's daemon",
  });
}

/** @throws FluxqError FLUXQ_IMAGES_BUILD; the tool has said why */
function run(tool: Tool, args: readonly string[]): void {
  const { status } = spawnSync(tool, args, { cwd: ROOT, stdio: 'inherit' });
  if (status === 0) return;
  throw new FluxqError('FLUXQ_IMAGES_BUILD', `${tool} ${args[0]} failed, its own message is above`, {
    remedy: 'correct what it says; --build-arg NODE=… and FLUX_SCHED=… name other base images',
  });
}

function main(): void {
  const options = parseOptions(process.argv);
  const tool = chooseTool(options.tool);
  const built = (options.only === undefined ? IMAGE_NAMES : [options.only]).map((image) => {
    const name = imageName(image, options);
    const buildArgs = options.buildArg.flatMap((text) => ['--build-arg', text]);
    run(tool, ['build', '-f', IMAGES[image].containerfile, '-t', name, ...buildArgs, '.']);
    if (options.push) run(tool, ['push', name]);
    return `${IMAGES[image].prop}: '${name}'`;
  });
  process.stdout.write(`${options.push ? 'pushed' : 'built'}; props of FluxQueue: ${built.join(', ')}\n`);
}

try {
  main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
