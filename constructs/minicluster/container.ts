/** What every container has in common: the runner, sidecars, services, the view. */

import { given, mapSorted, some } from './object';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { type Named, pushUserMounts } from './volumes';

/** A container of a pod. */
export type Container = Named;

/** Container's half of Pod Security `restricted`, and a read-only root. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** What one container has beside the user's fields. */
export interface ContainerParts {
  readonly name: string;
  /** @default - the image's own entrypoint */
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly Named[];
  /** These two get the user's added. */
  readonly ports?: Named[];
  readonly mounts?: Named[];
}

export function container(spec: DefaultedSpec, from: ContainerSpec, parts: ContainerParts): Container {
  const { name, command, env = [], ports = [], mounts = [] } = parts;
  from.ports?.forEach((port) => {
    ports.push({ name: portName(port), containerPort: port });
  });
  if (spec.pod.restricted === true) pushTemporary(mounts, from);
  pushUserMounts(mounts, from);
  return given({
    name,
    image: from.image,
    imagePullPolicy: pullPolicy(from),
    command,
    workingDir: from.workingDir,
    env: listed(environment(from, env)),
    envFrom: from.envFrom,
    lifecycle: lifecycle(from),
    livenessProbe: from.livenessProbe,
    ports: listed(ports),
    readinessProbe: from.readinessProbe,
    resources: from.resources,
    securityContext: securityContext(spec, from.securityContext),
    startupProbe: from.startupProbe,
    volumeMounts: listed(mounts),
  });
}

function pullPolicy({ pullAlways, imagePullPolicy }: ContainerSpec): string {
  return pullAlways === true ? 'Always' : (imagePullPolicy ?? 'IfNotPresent');
}

export function securityContext({ pod }: DefaultedSpec, own: ContainerSpec['securityContext']) {
  return pod.restricted === true ? { ...RESTRICTED, ...own } : own;
}

/** Named, because more than one port of a Service must be. */
export function portName(port: number): string {
  return `port-${port}`;
}

/** Ours, `environment`, `secrets`, `env`: the last of a name counts. */
function environment(
  { environment, secrets, env = [] }: ContainerSpec,
  ours: readonly Named[],
): readonly Named[] {
  const plain = mapSorted(environment, (name, value) => ({ name, value }));
  const secret = mapSorted(secrets, (name, { name: secret, key }) => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key } },
  }));
  const all = new Map<string, Named>();
  for (const each of [...ours, ...plain, ...secret, ...env]) all.set(each.name, { ...each });
  return [...all.values()];
}

function lifecycle({ lifeCycle }: ContainerSpec): Record<string, unknown> | undefined {
  if (lifeCycle === undefined) return undefined;
  const { postStartExec, preStopExec } = lifeCycle;
  return some({ postStart: exec(postStartExec), preStop: exec(preStopExec) });
}

function exec(text: string | undefined): Record<string, unknown> | undefined {
  return text === undefined ? undefined : { exec: { command: ['/bin/sh', '-c', text] } };
}

export const TEMPORARY_VOLUME = 'flux-tmp';

/** A read-only root needs a place for temporary files. */
function pushTemporary(mounts: Named[], { volumes }: ContainerSpec): void {
  const taken = Object.values(volumes ?? {}).some(({ path }) => path === '/tmp');
  if (!taken) mounts.push({ name: TEMPORARY_VOLUME, mountPath: '/tmp' });
}

function listed<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
