/** Converts props to the spec of the resource, so that both are validated and rendered by the same code. */
import type { Duration } from 'cdk8s';
import { containerSpec, podResourcesSpec, viewSpec } from './container-spec';
import type { MiniClusterFluxProps } from './flux-props';
import { omitEmpty, omitUndefined } from './object';
import type { MiniClusterProps } from './props';
import type { MiniClusterSpec } from './resource';

export function specOf(props: MiniClusterProps): MiniClusterSpec {
  const { container, sidecars = [], services, queue, job = {}, scheduling = {} } = props;
  return omitUndefined({
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
    queue: typeof queue === 'object' ? queue.name : queue,
    priority: scheduling.priority,
    exclusive: scheduling.exclusive,
    suspend: props.suspend,
    backoffLimit: job.backoffLimit,
    podFailurePolicy: job.podFailurePolicy,
    cleanup: props.cleanup,
    jobLabels: job.labels,
    shareProcessNamespace: props.pod?.shareProcessNamespace,
    walltime: props.walltime === undefined ? undefined : `${seconds(props.walltime)}s`,
    deadlineSeconds: seconds(job.deadline),
    ttlSecondsAfterFinished: seconds(job.ttlAfterFinished),
    archive: props.archivePath === undefined ? undefined : { path: props.archivePath },
    network: networkSpec(props),
    logging: loggingSpec(props),
    flux: fluxSpec(props),
    pod: podSpec(props),
  }) as MiniClusterSpec;
}

function networkSpec({ network = {}, scheduling }: MiniClusterProps) {
  return omitEmpty({
    headlessName: network.headlessName,
    clusterDomain: network.clusterDomain,
    fqdn: network.fqdn,
    port: network.port,
    disableAffinity: negated(scheduling?.affinity),
  });
}

function loggingSpec({ logging = {} }: MiniClusterProps) {
  return omitEmpty({
    quiet: logging.quiet,
    strict: logging.strict,
    debug: logging.debug,
    zeromq: logging.zeromq,
    timed: logging.timed,
  });
}

const NO_FLUX_PROPS: MiniClusterFluxProps = {};

function fluxSpec({ flux = NO_FLUX_PROPS, certificate, logging, network, scheduling }: MiniClusterProps) {
  const { connectTimeout } = flux;
  return omitEmpty({
    arch: scheduling?.arch,
    brokerConfig: flux.brokerConfig,
    bursting: flux.bursting,
    completeWorkers: flux.completeWorkers,
    cores: flux.cores,
    gpus: flux.gpus,
    cpuAffinity: flux.cpuAffinity,
    logLevel: logging?.level,
    minimalService: network?.minimalService,
    optionFlags: flux.optionFlags,
    report: flux.report,
    submitCommand: flux.submitCommand,
    topology: flux.topology,
    wrap: flux.wrap,
    container: omitEmpty({ ...viewSpec(flux.view), disable: flux.inImage, mountPath: flux.mountPath }),
    connectTimeout: connectTimeout === undefined ? undefined : timeout(connectTimeout),
    curveCertSecret: certificate?.secretName,
    disableSocket: negated(flux.socket),
    environment: flux.environment,
    mungeSecret: flux.mungeSecret?.name,
    noWaitSocket: negated(flux.waitSocket),
    scheduler: omitEmpty({
      simple: flux.simpleScheduler,
      queuePolicy: flux.queuePolicy,
      matchPolicy: flux.matchPolicy,
    }),
  });
}

function timeout(duration: Duration): string {
  const milliseconds = duration.toMilliseconds();
  return milliseconds === 0 ? '' : `${milliseconds}ms`;
}

function podSpec({ pod = {}, network = {}, scheduling = {} }: MiniClusterProps) {
  return omitEmpty({
    automountServiceAccountToken: pod.automountServiceAccountToken,
    dnsPolicy: network.dnsPolicy,
    hostNetwork: network.hostNetwork,
    nodeAffinity: scheduling.nodeAffinity,
    nodeSelector: scheduling.nodeSelector,
    priorityClassName: scheduling.priorityClassName,
    resourceClaims: pod.resourceClaims,
    restartPolicy: pod.restartPolicy,
    restricted: pod.restricted,
    runtimeClassName: pod.runtimeClassName,
    schedulerName: scheduling.schedulerName,
    tolerations: scheduling.tolerations,
    topologySpread: scheduling.topologySpread,
    annotations: pod.annotations,
    hostIPC: pod.hostIpc,
    hostPID: pod.hostPid,
    labels: pod.labels,
    resources: podResourcesSpec(pod.resources),
    securityContext: pod.securityContext,
    serviceAccountName: pod.serviceAccount?.name,
    terminationGracePeriodSeconds: seconds(pod.terminationGracePeriod),
  });
}

function negated(flag: boolean | undefined): boolean | undefined {
  return flag === undefined ? undefined : !flag;
}

function seconds(duration: Duration | undefined): number | undefined {
  return duration?.toSeconds({ integral: false });
}
