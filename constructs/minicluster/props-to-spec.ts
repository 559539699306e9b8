/** Props in the shape of the resource: two ways to say the same, one thing that is rendered. */
import type { Duration } from 'cdk8s';
import { containerSpec, viewSpec } from './container-spec';
import { given, some } from './object';
import type { MiniClusterProps } from './props';
import type { MiniClusterSpec } from './resource';

export function specOf(props: MiniClusterProps): MiniClusterSpec {
  const { container, sidecars = [], services } = props;
  return given({
    containers: [
      { ...containerSpec(container), ...(sidecars.length > 0 ? { runFlux: true } : {}) },
      ...sidecars.map(containerSpec),
    ],
    services: services?.map(containerSpec),
    size: props.size,
    minSize: props.minSize,
    maxSize: props.maxSize,
    tasks: props.tasks,
    interactive: props.interactive,
    workload: props.workload,
    queue: props.queue,
    priority: props.priority,
    exclusive: props.exclusive,
    suspend: props.suspend,
    backoffLimit: props.backoffLimit,
    podFailurePolicy: props.podFailurePolicy,
    cleanup: props.cleanup,
    jobLabels: props.jobLabels,
    shareProcessNamespace: props.shareProcessNamespace,
    walltime: props.walltime === undefined ? undefined : `${seconds(props.walltime)}s`,
    deadlineSeconds: seconds(props.deadline),
    ttlSecondsAfterFinished: seconds(props.ttlAfterFinished),
    archive: props.archivePath === undefined ? undefined : { path: props.archivePath },
    network: some({
      headlessName: props.headlessName,
      clusterDomain: props.clusterDomain,
      port: props.port,
      disableAffinity: not(props.affinity),
    }),
    logging: some({
      quiet: props.quiet,
      strict: props.strict,
      debug: props.debug,
      zeromq: props.zeromq,
      timed: props.timed,
    }),
    flux: some(fluxSpec(props)),
    pod: some(podSpec(props)),
  }) as MiniClusterSpec;
}

function fluxSpec(props: MiniClusterProps) {
  const { certificate, connectTimeout } = props;
  return {
    arch: props.arch,
    brokerConfig: props.brokerConfig,
    bursting: props.bursting,
    completeWorkers: props.completeWorkers,
    cores: props.cores,
    cpuAffinity: props.cpuAffinity,
    logLevel: props.logLevel,
    minimalService: props.minimalService,
    optionFlags: props.optionFlags,
    submitCommand: props.submitCommand,
    topology: props.topology,
    wrap: props.wrap,
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

function podSpec(props: MiniClusterProps) {
  return {
    automountServiceAccountToken: props.automountServiceAccountToken,
    dnsPolicy: props.dnsPolicy,
    hostNetwork: props.hostNetwork,
    nodeAffinity: props.nodeAffinity,
    nodeSelector: props.nodeSelector,
    priorityClassName: props.priorityClassName,
    resourceClaims: props.resourceClaims,
    restartPolicy: props.restartPolicy,
    restricted: props.restricted,
    runtimeClassName: props.runtimeClassName,
    schedulerName: props.schedulerName,
    tolerations: props.tolerations,
    topologySpread: props.topologySpread,
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

function not(flag: boolean | undefined): boolean | undefined {
  return flag === undefined ? undefined : !flag;
}

function seconds(duration: Duration | undefined): number | undefined {
  return duration?.toSeconds({ integral: false });
}
