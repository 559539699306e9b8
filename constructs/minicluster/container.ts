/** What every container has in common: the runner, sidecars, services, the view. */
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { given, some, sorted } from './tidy';
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
    env: listed(environment(from, parts.env ?? [])),
    envFrom: from.envFrom,
    lifecycle: lifecycle(from),
    livenessProbe: from.livenessProbe,
    ports: listed([...(parts.ports ?? []), ...ports(from)]),
    readinessProbe: from.readinessProbe,
    resources: from.resources,
    securityContext: securityContext(spec, from.securityContext),
    startupProbe: from.startupProbe,
    volumeMounts: listed([...(parts.mounts ?? []), ...temporary(spec, from), ...userMounts(from)]),
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
  const all = new Map<string, Named>();
  for (const each of ours) all.set(each.name, each);
  for (const [name, value] of sorted(environment)) all.set(name, { name, value });
  for (const [name, { name: secret, key }] of sorted(secrets))
    all.set(name, { name, valueFrom: { secretKeyRef: { name: secret, key } } });
  for (const each of env) all.set(each.name, { ...each });
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
function temporary({ pod }: DefaultedSpec, { volumes }: ContainerSpec): Named[] {
  if (pod.restricted !== true) return [];
  const taken = Object.values(volumes ?? {}).some(({ path }) => path === '/tmp');
  return taken ? [] : [{ name: TEMPORARY_VOLUME, mountPath: '/tmp' }];
}

function listed<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
