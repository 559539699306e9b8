/** Props in the shape of the resource: two ways to say the same, one thing that is rendered. */
import type { Duration } from 'cdk8s';
import { containerSpec, viewSpec } from './container-spec';
import type { MiniClusterProps } from './props';
import type { MiniClusterSpec } from './resource';
import { given, some } from './tidy';

export function specOf(props: MiniClusterProps): MiniClusterSpec {
  const { container, sidecars = [], services } = props;
  return given({
    containers: [
      { ...containerSpec(container), ...(sidecars.length > 0 ? { runFlux: true } : {}) },
      ...sidecars.map(containerSpec),
    ],
    services: services?.map(containerSpec),
    ...pick(props, CLUSTER_FIELDS),
    walltime: props.walltime === undefined ? undefined : `${seconds(props.walltime)}s`,
    deadlineSeconds: seconds(props.deadline),
    ttlSecondsAfterFinished: seconds(props.ttlAfterFinished),
    archive: props.archivePath === undefined ? undefined : { path: props.archivePath },
    network: some({
      ...pick(props, ['headlessName', 'clusterDomain', 'port']),
      disableAffinity: not(props.affinity),
    }),
    logging: some(pick(props, ['quiet', 'strict', 'debug', 'zeromq', 'timed'])),
    flux: some(fluxSpec(props)),
    pod: some(podSpec(props)),
  }) as MiniClusterSpec;
}

const CLUSTER_FIELDS = [
  'size',
  'minSize',
  'maxSize',
  'tasks',
  'interactive',
  'workload',
  'queue',
  'priority',
  'exclusive',
  'suspend',
  'backoffLimit',
  'podFailurePolicy',
  'cleanup',
  'jobLabels',
  'shareProcessNamespace',
] as const;

const FLUX_FIELDS = [
  'arch',
  'brokerConfig',
  'bursting',
  'completeWorkers',
  'cores',
  'cpuAffinity',
  'logLevel',
  'minimalService',
  'optionFlags',
  'submitCommand',
  'topology',
  'wrap',
] as const;

function fluxSpec(props: MiniClusterProps) {
  const { certificate, connectTimeout } = props;
  return {
    ...pick(props, FLUX_FIELDS),
    container: some({ ...viewSpec(props.view), disable: props.fluxInImage, mountPath: props.mountPath }),
    connectTimeout: connectTimeout === undefined ? undefined : timeout(connectTimeout),
    curveCertSecret: certificate?.secretName,
    disableSocket: not(props.socket),
    environment: props.fluxEnvironment,
    mungeSecret: props.mungeSecret?.name,
    noWaitSocket: not(props.waitSocket),
    scheduler: some({
      simple: props.simpleScheduler,
      queuePolicy: props.queuePolicy,
      matchPolicy: props.matchPolicy,
    }),
  };
}

function timeout(duration: Duration): string {
  const milliseconds = duration.toMilliseconds();
  return milliseconds === 0 ? '' : `${milliseconds}ms`;
}

const POD_FIELDS = [
  'automountServiceAccountToken',
  'dnsPolicy',
  'hostNetwork',
  'nodeAffinity',
  'nodeSelector',
  'priorityClassName',
  'resourceClaims',
  'restartPolicy',
  'restricted',
  'runtimeClassName',
  'schedulerName',
  'tolerations',
  'topologySpread',
] as const;

function podSpec(props: MiniClusterProps) {
  return {
    ...pick(props, POD_FIELDS),
    annotations: props.podAnnotations,
    hostIPC: props.hostIpc,
    hostPID: props.hostPid,
    labels: props.podLabels,
    resources:
      props.podResources === undefined ? undefined : containerSpec(props.podResources).resources?.requests,
    securityContext: props.podSecurityContext,
    serviceAccountName: props.serviceAccount?.name,
    terminationGracePeriodSeconds: seconds(props.terminationGracePeriod),
  };
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked as Pick<T, K>;
}

function not(flag: boolean | undefined): boolean | undefined {
  return flag === undefined ? undefined : !flag;
}

function seconds(duration: Duration | undefined): number | undefined {
  return duration?.toSeconds({ integral: false });
}
