/**
 * Every image of the stack, in one place, beside kube-scheduler (fluxqueue/scheduler.ts) and the bases of ours (the two Containerfiles).
 * What was looked up, in the publishers' own lists of tags and not in a registry:
 * - postgres:18.6-bookworm and node:24-bookworm-slim are in docker-library/official-images (library/postgres, library/node) of 2026-08-21;
 *   18.4-bookworm, the version that the tests run, was there until 2026-08-13 and is no longer rebuilt.
 * - fluxrm/flux-sched:bookworm-v0.54.0 is what flux-sched's CI pushes for its tag v0.54.0 (src/test/generate-matrix.py,
 *   docker-manifest.py: IMAGE-TAG for amd64 and arm64); no list shows that the push succeeded.
 * - registry.k8s.io/kube-scheduler:vX.Y.Z is in the list of images of every release in Kubernetes' CHANGELOG.
 * - the two images of this project are not published: `npm run images`.
 */
import { version } from '../package.json';

export interface Images {
  /** The runtime: webhook, controller, password. */
  readonly runtime: string;
  /** The runtime on top of flux-sched's library: the Fluxion service. */
  readonly fluxion: string;
  readonly postgres: string;
}

/** The runtime that this version of the constructs was tested with. */
export const DEFAULT_IMAGES: Images = {
  runtime: `ghcr.io/converged-computing/cdk8s-fluxqueue:${version}`,
  fluxion: `ghcr.io/converged-computing/cdk8s-fluxqueue-fluxion:${version}`,
  postgres: 'docker.io/library/postgres:18.6-bookworm',
};

/** Command of a role in the runtime's images. */
export function roleCommand(role: string, ...options: string[]): string[] {
  return ['node', '/app/runtime.js', role, ...options];
}
