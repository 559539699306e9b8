/** Fields that all containers share: the brokers' container, sidecars, services. */
import { mapSorted, omitEmpty, omitUndefined } from './object';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { type NamedObject, pushUserMounts } from './volumes';

/** A container of a pod. */
export type Container = NamedObject;

/** The rules of Pod Security `restricted` for containers, and a read-only root file system. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** What the MiniCluster sets in a container, beside the fields of the user. */
export interface ContainerDefaults {
  readonly name: string;
  /** Command of the container. @default - the entrypoint of the image */
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly NamedObject[];
  /** Ports, to which those of the user are added. */
  readonly ports?: NamedObject[];
  /** Mounts, to which those of the user are added. */
  readonly mounts?: NamedObject[];
}

export function container(spec: DefaultedSpec, from: ContainerSpec, defaults: ContainerDefaults): Container {
  const { name, command, env = [], ports = [], mounts = [] } = defaults;
  from.ports?.forEach((port) => {
    ports.push({ name: portName(port), containerPort: port });
  });
  if (spec.pod.restricted === true) pushTemporaryMount(mounts, from);
  pushUserMounts(mounts, from);
  return omitUndefined({
    name,
    image: from.image,
    imagePullPolicy: pullPolicy(from),
    command,
    workingDir: from.workingDir,
    env: nonEmpty(environment(from, env)),
    envFrom: from.envFrom,
    lifecycle: lifecycle(from),
    livenessProbe: from.livenessProbe,
    ports: nonEmpty(ports),
    readinessProbe: from.readinessProbe,
    resources: from.resources,
    securityContext: securityContext(spec, from.securityContext),
    startupProbe: from.startupProbe,
    volumeMounts: nonEmpty(mounts),
  });
}

function pullPolicy({ pullAlways, imagePullPolicy }: ContainerSpec): string {
  return pullAlways === true ? 'Always' : (imagePullPolicy ?? 'IfNotPresent');
}

export function securityContext({ pod }: DefaultedSpec, own: ContainerSpec['securityContext']) {
  return pod.restricted === true ? { ...RESTRICTED, ...own } : own;
}

/** Ports have names because Kubernetes requires them where a Service has more than one. */
export function portName(port: number): string {
  return `port-${port}`;
}

/** The variables of `defaults`, `environment`, `secrets` and `env`; the last one of a name wins. */
function environment(
  { environment, secrets, env = [] }: ContainerSpec,
  defaults: readonly NamedObject[],
): readonly NamedObject[] {
  const plain = mapSorted(environment, (name, value) => ({ name, value }));
  const secret = mapSorted(secrets, (name, { name: secret, key }) => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key } },
  }));
  const byName = new Map<string, NamedObject>();
  for (const variable of [...defaults, ...plain, ...secret, ...env])
    byName.set(variable.name, { ...variable });
  return [...byName.values()];
}

function lifecycle({ lifeCycle }: ContainerSpec): Record<string, unknown> | undefined {
  if (lifeCycle === undefined) return undefined;
  const { postStartExec, preStopExec } = lifeCycle;
  return omitEmpty({ postStart: exec(postStartExec), preStop: exec(preStopExec) });
}

function exec(text: string | undefined): Record<string, unknown> | undefined {
  return text === undefined ? undefined : { exec: { command: ['/bin/sh', '-c', text] } };
}

export const TEMPORARY_VOLUME = 'flux-tmp';

/** With a read-only root file system programs need a directory for temporary files. */
function pushTemporaryMount(mounts: NamedObject[], { volumes }: ContainerSpec): void {
  const mounted = Object.values(volumes ?? {}).some(({ path }) => path === '/tmp');
  if (!mounted) mounts.push({ name: TEMPORARY_VOLUME, mountPath: '/tmp' });
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
