/**
 * Images of the stack, except kube-scheduler (fluxqueue/scheduler.ts) and the base images (the two Containerfiles). Their
 * tags are taken from lists of the publishers, not from a registry:
 * - postgres:18.6-bookworm and node:24-bookworm-slim are in docker-library/official-images (library/postgres, library/node) of 2026-08-21.
 *   18.4-bookworm, the version of the tests, was listed until 2026-08-13 and is no longer rebuilt.
 * - fluxrm/flux-sched:bookworm-v0.54.0 is the image that flux-sched's CI pushes for its tag v0.54.0 (src/test/generate-matrix.py,
 *   docker-manifest.py: IMAGE-TAG for amd64 and arm64); no list shows that the push succeeded.
 * - registry.k8s.io/kube-scheduler:vX.Y.Z is in the image list of every release in the CHANGELOG of Kubernetes.
 * - the two images of this project are not published: `npm run images` builds them.
 */
import { version } from '../package.json';
import digests from './image-digests.json';

export interface Images {
  /** Image of the roles controller, webhook and password. */
  readonly runtime: string;
  /** Image of the Fluxion service: the runtime with flux-sched's library. */
  readonly fluxion: string;
  /** Image of Postgres. */
  readonly postgres: string;
}

/** The tags. */
export const IMAGE_TAGS: Images = {
  runtime: `ghcr.io/converged-computing/cdk8s-fluxqueue:${version}`,
  fluxion: `ghcr.io/converged-computing/cdk8s-fluxqueue-fluxion:${version}`,
  postgres: 'docker.io/library/postgres:18.6-bookworm',
};

/**
 * Digests by tag. They exist only once the images are pushed, so the release workflow writes them
 * (`npm run -s images:digests`), and a checkout has none.
 */
const DIGESTS: Readonly<Record<string, string>> = digests;

/** NAME:TAG@DIGEST if the digest of the tag is known, else NAME:TAG. */
export function pinned(image: string, known: Readonly<Record<string, string>> = DIGESTS): string {
  const digest = known[image];
  return digest === undefined ? image : `${image}@${digest}`;
}

/**
 * Images with which this version of the constructs is tested, by digest in a release. The props for images take a reference
 * with a digest, too.
 */
export const DEFAULT_IMAGES: Images = {
  runtime: pinned(IMAGE_TAGS.runtime),
  fluxion: pinned(IMAGE_TAGS.fluxion),
  postgres: pinned(IMAGE_TAGS.postgres),
};

/**
 * Share of the container's memory limit that Node's heap may have; without it Node takes about half. The rest is for its
 * code, buffers and young objects. A percentage instead of megabytes that synth computes: it follows every limit, also one
 * that Helm, a patch or an autoscaler sets later, because Node asks the cgroup. An option of the command instead of
 * NODE_OPTIONS, which stays free for users.
 */
const HEAP_PERCENT = 75;

/** Command that starts a role in the runtime's images. */
export function roleCommand(role: string, ...options: string[]): string[] {
  return ['node', `--max-old-space-size-percentage=${HEAP_PERCENT}`, '/app/runtime.js', role, ...options];
}
