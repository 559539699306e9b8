/** Every image of the stack, in one place. */
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
  postgres: 'docker.io/library/postgres:18.4-bookworm',
};

/** Command of a role in the runtime's images. */
export function roleCommand(role: string, ...options: string[]): string[] {
  return ['node', '/app/runtime.js', role, ...options];
}
