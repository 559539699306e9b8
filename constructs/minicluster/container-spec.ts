/** Converts the props of a container to the spec of the resource. */
import type { ComputeProps, MiniClusterContainerProps } from './container-props';
import type { FluxViewProps } from './flux-props';
import { mapSorted, omitEmpty, omitUndefined } from './object';
import type { PodResources } from './pod-props';
import type { ContainerSpec, MiniClusterSpec } from './resource';

type ResourcesSpec = NonNullable<ContainerSpec['resources']>;

export function containerSpec(props: MiniClusterContainerProps): ContainerSpec {
  return omitUndefined({
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
    commands: omitEmpty({
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
      omitUndefined({
        prefix,
        configMapRef: configMap === undefined ? undefined : { name: configMap.name },
        secretRef: secret === undefined ? undefined : { name: secret.name },
      }),
    ),
    imagePullSecret: props.imagePullSecret?.name,
    lifeCycle: omitEmpty({ postStartExec: props.postStart, preStopExec: props.preStop }),
    resources: resources(props),
    secrets: map(props.secrets, ({ secret, key }) => ({ name: secret.name, key })),
    volumes: map(props.volumes, ({ spec }) => spec),
  }) as ContainerSpec;
}

export function viewSpec(
  view: FluxViewProps = {},
): NonNullable<NonNullable<MiniClusterSpec['flux']>['container']> {
  const { image, imagePullSecret, name, pullAlways, pythonPath, securityContext, workingDir } = view;
  return omitUndefined({
    ...{ image, name, pullAlways, pythonPath, securityContext, workingDir },
    imagePullSecret: imagePullSecret?.name,
    resources: resources(view),
  }) as ReturnType<typeof viewSpec>;
}

export function podResourcesSpec(amounts: PodResources | undefined): Record<string, unknown> | undefined {
  return amounts === undefined ? undefined : omitEmpty(quantities(amounts));
}

function resources(props: ComputeProps): ResourcesSpec | undefined {
  const { cpuLimit, memoryLimit, devices, claims } = props;
  return omitEmpty({
    claims: claims?.map((name) => ({ name })),
    limits: omitEmpty(quantities({ cpu: cpuLimit, memory: memoryLimit, devices })),
    requests: omitEmpty(quantities(props)),
  }) as ResourcesSpec | undefined;
}

type Amounts = { readonly [K in keyof PodResources]?: PodResources[K] | undefined };

function quantities({ cpu, memory, devices }: Amounts): Record<string, unknown> {
  return { cpu: cpuQuantity(cpu), memory: memory?.asString(), ...map(devices, (count) => count) };
}

function cpuQuantity(cpus: number | undefined): string | undefined {
  if (cpus === undefined) return undefined;
  const millis = Math.round(cpus * 1000);
  // Finer than Kubernetes allows: the check of the spec says so, and a rounded value would be 0.
  if (Number.isInteger(cpus) || Math.abs(millis - cpus * 1000) > 1e-6) return String(cpus);
  return `${millis}m`;
}

function map<T, R>(
  values: Readonly<Record<string, T>> | undefined,
  to: (value: T) => R,
): Record<string, R> | undefined {
  if (values === undefined) return undefined;
  return Object.fromEntries(mapSorted(values, (key, value) => [key, to(value)]));
}
