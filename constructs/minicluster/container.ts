/** What every container has in common: the runner, sidecars, services, the view. */
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { given, sorted } from './tidy';
import { type Named, userMounts } from './volumes';

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
  readonly command?: readonly string[];
  readonly env?: readonly Named[];
  readonly mounts?: readonly Named[];
  readonly ports?: readonly Named[];
}

export function container(spec: DefaultedSpec, from: ContainerSpec, parts: ContainerParts): Container {
  return given({
    name: parts.name,
    image: from.image,
    imagePullPolicy: pullPolicy(from),
    command: parts.command,
    workingDir: from.workingDir,
    env: some(environment(from, parts.env ?? [])),
    envFrom: from.envFrom,
    lifecycle: lifecycle(from),
    livenessProbe: from.livenessProbe,
    ports: some([...(parts.ports ?? []), ...ports(from)]),
    readinessProbe: from.readinessProbe,
    resources: from.resources,
    securityContext: securityContext(spec, from.securityContext),
    startupProbe: from.startupProbe,
    volumeMounts: some([...(parts.mounts ?? []), ...temporary(spec, from), ...userMounts(from)]),
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

function ports({ ports = [] }: ContainerSpec): Named[] {
  return ports.map((port) => ({ name: portName(port), containerPort: port }));
}

/** Ours, `environment`, `secrets`, `env`: the last of a name counts. */
function environment({ environment, secrets, env = [] }: ContainerSpec, ours: readonly Named[]): Named[] {
  const all: readonly Named[] = [
    ...ours,
    ...sorted(environment).map(([name, value]) => ({ name, value })),
    ...sorted(secrets).map(([name, { name: secret, key }]) => ({
      name,
      valueFrom: { secretKeyRef: { name: secret, key } },
    })),
    ...env.map((each) => ({ ...each })),
  ];
  return [...new Map(all.map((each) => [each.name, each])).values()];
}

function lifecycle({ lifeCycle }: ContainerSpec): Record<string, unknown> | undefined {
  const exec = (text: string | undefined) =>
    text === undefined ? undefined : { exec: { command: ['/bin/sh', '-c', text] } };
  const handlers = given({
    postStart: exec(lifeCycle?.postStartExec),
    preStop: exec(lifeCycle?.preStopExec),
  });
  return Object.keys(handlers).length === 0 ? undefined : handlers;
}

export const TEMPORARY_VOLUME = 'flux-tmp';

/** A read-only root needs a place for temporary files. */
function temporary({ pod }: DefaultedSpec, { volumes }: ContainerSpec): Named[] {
  const taken = Object.values(volumes ?? {}).some(({ path }) => path === '/tmp');
  return pod.restricted !== true || taken ? [] : [{ name: TEMPORARY_VOLUME, mountPath: '/tmp' }];
}

function some<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
