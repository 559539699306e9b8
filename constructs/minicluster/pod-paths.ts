/** Paths of files and directories in the pods. */
import { CERTIFICATE_KEY } from '../api/labels';
import type { DefaultedSpec } from './schema';

/** Scripts and configuration; flux-operator uses the same directory. */
export const SCRIPTS = '/flux_operator';
/** User scripts of the brokers' container. */
export const BROKER_SCRIPTS = `${SCRIPTS}/runner`;
/** The certificate in the mounted Secret. */
export const CURVE_SOURCE = '/etc/flux/curve';
/** Directory in memory for the certificate: the broker requires a file that it owns and nobody else can read. */
export const CURVE_FOLDER = '/run/flux-curve';
export const CURVE_FILE = `${CURVE_FOLDER}/${CERTIFICATE_KEY}`;
/** Directory with the token for reports to the controller. */
export const REPORT_FOLDER = '/run/flux-report';
export const REPORT_TOKEN = `${REPORT_FOLDER}/token`;
export const MUNGE_FOLDER = '/etc/munge';
/** Directory that views of Flux were built for; their programs expect each other there. */
export const SOFTWARE = '/opt/software';
/** The same volume in the init container, whose image has its software at SOFTWARE. */
export const SOFTWARE_TARGET = '/flux_software';

export function mountPath({ flux }: DefaultedSpec): string {
  return flux.container?.mountPath ?? '/mnt/flux';
}

/** Run-time files; their paths are those of flux-operator, so that users find the socket where they expect it. */
export function configFolder(spec: DefaultedSpec): string {
  return `${mountPath(spec)}/config`;
}

export function runFolder(spec: DefaultedSpec): string {
  return `${configFolder(spec)}/run/flux`;
}

export function resourceFile(spec: DefaultedSpec): string {
  return `${configFolder(spec)}/etc/flux/system/R`;
}

/** Whether an init container brings Flux. */
export function hasView({ flux }: DefaultedSpec): boolean {
  return flux.container?.disable !== true;
}
