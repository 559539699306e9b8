/** Props of a container in the shape of the resource. */
import type { ComputeProps, ContainerProps } from './container-props';
import { given, mapSorted, some } from './object';
import type { ViewProps } from './props';
import type { ContainerSpec, MiniClusterSpec } from './resource';

type ResourcesSpec = NonNullable<ContainerSpec['resources']>;

export function containerSpec(props: ContainerProps): ContainerSpec {
  return given({
    batch: props.batch,
    batchRaw: props.batchRaw,
    command: props.command,
    env: props.env,
    environment: props.environment,
    image: props.image,
    imagePullPolicy: props.imagePullPolicy,
    launcher: props.launcher,
    livenessProbe: props.livenessProbe,
    logs: props.logs,
    name: props.name,
    noWrapEntrypoint: props.noWrapEntrypoint,
    ports: props.ports,
    pullAlways: props.pullAlways,
    readinessProbe: props.readinessProbe,
    securityContext: props.securityContext,
    serviceName: props.serviceName,
    startupProbe: props.startupProbe,
    workingDir: props.workingDir,
    commands: some({
      brokerPre: props.brokerPre,
      init: props.init,
      post: props.post,
      pre: props.pre,
      prefix: props.prefix,
      script: props.script,
      servicePre: props.servicePre,
      workerPre: props.workerPre,
    }),
    envFrom: props.envFrom?.map(({ configMap, secret, prefix }) =>
      given({
        prefix,
        configMapRef: configMap === undefined ? undefined : { name: configMap.name },
        secretRef: secret === undefined ? undefined : { name: secret.name },
      }),
    ),
    imagePullSecret: props.imagePullSecret?.name,
    lifeCycle: some({ postStartExec: props.postStart, preStopExec: props.preStop }),
    resources: resources(props),
    secrets: map(props.secrets, ({ secret, key }) => ({ name: secret.name, key })),
    volumes: map(props.volumes, ({ spec }) => spec),
  }) as ContainerSpec;
}

export function viewSpec(
  view: ViewProps = {},
): NonNullable<NonNullable<MiniClusterSpec['flux']>['container']> {
  const { image, imagePullSecret, name, pullAlways, pythonPath, securityContext, workingDir } = view;
  return given({
    ...{ image, name, pullAlways, pythonPath, securityContext, workingDir },
    imagePullSecret: imagePullSecret?.name,
    resources: resources(view),
  }) as ReturnType<typeof viewSpec>;
}

function resources({
  cpu,
  cpuLimit,
  memory,
  memoryLimit,
  devices,
  claims,
}: ComputeProps): ResourcesSpec | undefined {
  const extended = map(devices, (count) => count);
  const requests = { cpu: cpus(cpu), memory: memory?.asString(), ...extended };
  const limits = { cpu: cpus(cpuLimit), memory: memoryLimit?.asString(), ...extended };
  return some({
    claims: claims?.map((name) => ({ name })),
    limits: some(limits),
    requests: some(requests),
  }) as ResourcesSpec | undefined;
}

function cpus(count: number | undefined): string | undefined {
  if (count === undefined) return undefined;
  return Number.isInteger(count) ? String(count) : `${Math.round(count * 1000)}m`;
}

function map<T, R>(
  values: Readonly<Record<string, T>> | undefined,
  to: (value: T) => R,
): Record<string, R> | undefined {
  if (values === undefined) return undefined;
  return Object.fromEntries(mapSorted(values, (key, value) => [key, to(value)]));
}
