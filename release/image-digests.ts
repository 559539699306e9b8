/**
 * `npm run -s images:digests [-- --outputs]`: asks the registries for the digest of each image's tag and writes
 * constructs/image-digests.json, so that the package and the manifests of a release name images by digest. With `--outputs`
 * it prints NAME and DIGEST of the file as outputs of a workflow step.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { IMAGE_TAGS } from '../constructs/images';
import { FluxqError, messageOf } from '../runtime/errors';

const FILE = join(
  process.env.FLUXQUEUE_IMAGE_DIGESTS ?? join(__dirname, '..', 'constructs'),
  'image-digests.json',
);

/** @throws FluxqError FLUXQ_IMAGES_DIGEST */
function digestOf(image: string): string {
  const args = ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', image];
  const { status, stdout, stderr, error } = spawnSync('docker', args, { encoding: 'utf8' });
  const digest = stdout?.trim() ?? '';
  if (status === 0 && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
  const said = error === undefined ? `${stderr}${stdout}`.trim() : messageOf(error);
  throw new FluxqError('FLUXQ_IMAGES_DIGEST', `docker names no digest: ${said}`, {
    field: image,
    remedy: 'push the image first (npm run images -- --push), and log in to its registry',
  });
}

function write(): void {
  const digests = Object.values(IMAGE_TAGS).map((image) => [image, digestOf(image)]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`);
}

function printOutputs(): void {
  const digests = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, string>;
  for (const [name, image] of Object.entries(IMAGE_TAGS)) {
    const repository = image.slice(0, image.lastIndexOf(':'));
    process.stdout.write(`${name}-name=${repository}\n${name}-digest=${digests[image] ?? ''}\n`);
  }
}

try {
  const { outputs } = new Command('npm run images:digests --')
    .description('Writes the digests of the images into constructs/image-digests.json.')
    .option('--outputs', 'prints the digests of the file as outputs of a workflow step', false)
    .parse()
    .opts<{ outputs: boolean }>();
  if (outputs) printOutputs();
  else write();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
