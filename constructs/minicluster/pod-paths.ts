/** Where things are in the pods. */
import { CERTIFICATE_KEY } from '../api/labels';
import type { DefaultedSpec } from './schema';

/** Scripts and configuration, as upstream has it. */
export const SCRIPTS = '/flux_operator';
/** The runner's blocks and script. */
export const RUNNER = `${SCRIPTS}/runner`;
/** The certificate as its Secret has it. */
export const CURVE_SOURCE = '/etc/flux/curve';
/** Memory, for the certificate as the broker wants it: its own, unreadable to others. */
export const CURVE_FOLDER = '/run/flux-curve';
export const CURVE_FILE = `${CURVE_FOLDER}/${CERTIFICATE_KEY}`;
export const MUNGE_FOLDER = '/etc/munge';
/** Where views of Flux were built; programs in them look for each other there. */
export const SOFTWARE = '/opt/software';
/** The same volume in the init container, which has software of its own there. */
export const SOFTWARE_TARGET = '/flux_software';

export function mountPath({ flux }: DefaultedSpec): string {
  return flux.container?.mountPath ?? '/mnt/flux';
}

/** Run-time files: below upstream's path, so that users find the socket where they look for it. */
export function configFolder(spec: DefaultedSpec): string {
  return `${mountPath(spec)}/config`;
}

export function runFolder(spec: DefaultedSpec): string {
  return `${configFolder(spec)}/run/flux`;
}

export function resourceFile(spec: DefaultedSpec): string {
  return `${configFolder(spec)}/etc/flux/system/R`;
}

/** Whether Flux comes from the init container. */
export function hasView({ flux }: DefaultedSpec): boolean {
  return flux.container?.disable !== true;
}
