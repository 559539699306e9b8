/** Images of the stack. */
import { version } from '../package.json';

export interface Images {
  /** Image of the roles controller, webhook and password. */
  readonly runtime: string;
  /** Image of the Fluxion service: the runtime with flux-sched's library. */
  readonly fluxion: string;
  /** Image of Postgres. */
  readonly postgres: string;
}

/** Images with which this version of the constructs is tested. */
export const DEFAULT_IMAGES: Images = {
  runtime: `ghcr.io/converged-computing/cdk8s-fluxqueue:${version}`,
  fluxion: `ghcr.io/converged-computing/cdk8s-fluxqueue-fluxion:${version}`,
  postgres: 'docker.io/library/postgres:18.4-bookworm',
};

/** Command that starts a role in the runtime's images. */
export function roleCommand(role: string, ...options: string[]): string[] {
  return ['node', '/app/runtime.js', role, ...options];
}
