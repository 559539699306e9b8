/** Fields of the cluster that conflict with each other. */
import { CRD_WALLTIME_PATTERN, MINICLUSTER_WALLTIME_REQUIREMENT, parseDuration } from '../api/durations';
import { MAX_WALLTIME_SECONDS } from '../api/settings';
import { restartPolicy } from './broker-pod';
import type { ClusterContext } from './context';
import { hostDomain, maxSize } from './hosts';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import { joinedReportIssues } from './validate-report';
import type { ValidationIssue } from './validation-issue';

export function clusterIssues(context: ClusterContext): ValidationIssue[] {
  const { spec } = context;
  return [
    sizeIssues(spec),
    walltimeIssues(spec),
    brokerContainerIssues(spec),
    servicesIssues(spec),
    spec.workload === 'StatefulSet' ? statefulSetIssues(spec) : failurePolicyIssues(context),
    startupProbeIssues(spec),
    processNamespaceIssues(spec),
    certificateIssues(spec),
    burstingIssues(spec),
    topologyIssues(spec),
    joinedReportIssues(spec),
    fqdnIssues(context),
  ].flat();
}

function sizeIssues({ size, minSize, maxSize }: DefaultedSpec): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  if (maxSize !== undefined && maxSize < size)
    issues.push({
      path: 'spec.maxSize',
      message: `must not be smaller than size, which is ${size}`,
      value: maxSize,
      remedy: 'raise maxSize or lower size',
    });
  if (minSize !== undefined && minSize > size)
    issues.push({
      path: 'spec.minSize',
      message: `must not be larger than size, which is ${size}`,
      value: minSize,
      remedy: 'lower minSize or raise size',
    });
  return issues;
}

const WALLTIME = new RegExp(CRD_WALLTIME_PATTERN);

/** Admission refuses the Job, too. */
function walltimeIssues({ walltime }: DefaultedSpec): ValidationIssue[] {
  if (walltime === undefined) return [];
  const issue = (message: string, remedy: string) => [
    { path: 'spec.walltime', message, value: walltime, remedy },
  ];
  if (!WALLTIME.test(walltime))
    return issue(MINICLUSTER_WALLTIME_REQUIREMENT, 'write it in one of these forms');
  const seconds = parseDuration(walltime) ?? 0;
  if (seconds > 0 && seconds <= MAX_WALLTIME_SECONDS) return [];
  return issue(`must be greater than 0 and at most ${MAX_WALLTIME_SECONDS} s`, 'give a time in this range');
}

function brokerContainerIssues({ containers }: DefaultedSpec): ValidationIssue[] {
  if (containers.length === 1) return [];
  const count = containers.filter(({ runFlux }) => runFlux === true).length;
  const issues = containers.flatMap((container, index) =>
    container.runFlux === true ? [] : nameIssue(container, `spec.containers[${index}]`, 'for a sidecar'),
  );
  if (count !== 1)
    issues.unshift({
      path: 'spec.containers',
      message: 'must have exactly one container with runFlux, which runs the brokers',
      value: count,
      remedy: 'set runFlux on one container only',
    });
  return issues;
}

function nameIssue({ name }: ContainerSpec, path: string, purpose: string): ValidationIssue[] {
  if (name !== undefined) return [];
  const message = `is required ${purpose}`;
  return [{ path: `${path}.name`, message, value: undefined, remedy: 'name the container' }];
}

/** Scripts that only the container with the broker runs. */
const BROKER_COMMANDS = ['pre', 'brokerPre', 'workerPre'] as const;

function servicesIssues({ services = [] }: DefaultedSpec): ValidationIssue[] {
  return services.flatMap((service, index) => {
    const path = `spec.services[${index}]`;
    const issues = nameIssue(service, path, 'for a service');
    if (service.runFlux === true)
      issues.push({
        path: `${path}.runFlux`,
        message: 'is not supported for a service',
        value: true,
        remedy: 'move the container to spec.containers',
      });
    for (const name of BROKER_COMMANDS)
      if (service.commands?.[name] !== undefined)
        issues.push({
          path: `${path}.commands.${name}`,
          message: 'is not supported for a service, which has no broker',
          value: service.commands[name],
          remedy: 'use commands.init',
          propRemedy: 'use init',
        });
    return issues;
  });
}

const JOB_FIELDS = ['suspend', 'backoffLimit', 'ttlSecondsAfterFinished', 'podFailurePolicy'] as const;

function statefulSetIssues(spec: DefaultedSpec): ValidationIssue[] {
  const issues: ValidationIssue[] = JOB_FIELDS.filter((name) => spec[name] !== undefined).map((name) => ({
    path: `spec.${name}`,
    message: 'is not supported with workload StatefulSet',
    value: spec[name],
    remedy: 'remove it or use workload Job',
  }));
  if (spec.interactive !== true)
    issues.unshift({
      path: 'spec.workload',
      message: 'StatefulSet requires interactive: true',
      value: 'StatefulSet',
      remedy: 'set interactive to true or use workload Job',
    });
  return issues;
}

function failurePolicyIssues(context: ClusterContext): ValidationIssue[] {
  const { podFailurePolicy } = context.spec;
  const policy = restartPolicy(context);
  if (podFailurePolicy === undefined || policy === 'Never') return [];
  return [
    {
      path: 'spec.podFailurePolicy',
      message: `requires pod.restartPolicy Never, which is ${policy}`,
      value: podFailurePolicy,
      remedy: 'set pod.restartPolicy to Never or remove podFailurePolicy',
    },
  ];
}

/** The broker starts after the startup probes of the sidecars succeed, and a sidecar waits for the broker's socket. */
function startupProbeIssues({ containers, flux }: DefaultedSpec): ValidationIssue[] {
  if (containers.length === 1 || flux.noWaitSocket === true || flux.disableSocket === true) return [];
  return containers.flatMap(({ runFlux, noWrapEntrypoint, startupProbe }, index) => {
    if (runFlux === true || noWrapEntrypoint === true || startupProbe === undefined) return [];
    return {
      path: `spec.containers[${index}].startupProbe`,
      message: 'delays the broker, and this container waits for the socket of the broker',
      value: startupProbe,
      remedy: 'use readinessProbe or set flux.noWaitSocket to true',
      propRemedy: 'use readinessProbe or set flux.waitSocket to false',
    };
  });
}

function processNamespaceIssues({ shareProcessNamespace, pod }: DefaultedSpec): ValidationIssue[] {
  if (shareProcessNamespace !== true || pod.hostPID !== true) return [];
  return [
    {
      path: 'spec.shareProcessNamespace',
      message: 'cannot be combined with pod.hostPID',
      value: true,
      remedy: 'remove one of them',
      propRemedy: 'remove it or pod.hostPid',
    },
  ];
}

function certificateIssues({ flux: { curveCert, curveCertSecret } }: DefaultedSpec): ValidationIssue[] {
  if (curveCert === undefined || curveCertSecret === undefined) return [];
  return [
    {
      path: 'spec.flux.curveCertSecret',
      message: 'cannot be combined with curveCert',
      value: curveCertSecret,
      remedy: 'remove one of them',
    },
  ];
}

function burstingIssues({ flux }: DefaultedSpec): ValidationIssue[] {
  const { bursting, curveCert, curveCertSecret } = flux;
  if (bursting === undefined) return [];
  const issues: ValidationIssue[] = [];
  if (bursting.hostlist !== undefined && bursting.clusters !== undefined)
    issues.push({
      path: 'spec.flux.bursting.hostlist',
      message: 'cannot be combined with bursting.clusters, because it names every host',
      value: bursting.hostlist,
      remedy: 'remove one of them',
    });
  if (bursting.leadBroker !== undefined && curveCert === undefined && curveCertSecret === undefined)
    issues.push({
      path: 'spec.flux.bursting.leadBroker',
      message: 'requires the certificate of the cluster that it leads',
      value: bursting.leadBroker.name,
      remedy: 'set flux.curveCertSecret to a Secret with that certificate',
      propRemedy: 'set certificate to Certificate.fromSecret(...) of a Secret with that certificate',
    });
  return issues;
}

function topologyIssues({ flux: { minimalService, topology } }: DefaultedSpec): ValidationIssue[] {
  if (minimalService !== true || topology === undefined) return [];
  return [
    {
      path: 'spec.flux.topology',
      message: 'cannot be combined with minimalService, which gives a DNS name to the lead broker only',
      value: topology,
      remedy: 'remove one of them',
    },
  ];
}

/** Flux compares the first 64 characters of a host name. */
const MAX_HOST_LENGTH = 64;

function fqdnIssues({ resource, spec }: ClusterContext): ValidationIssue[] {
  if (spec.network.fqdn !== true) return [];
  const { minimalService, bursting } = spec.flux;
  const path = 'spec.network.fqdn';
  const issues: ValidationIssue[] = [];
  if (minimalService === true || bursting !== undefined)
    issues.push({
      path,
      message: `cannot be combined with ${minimalService === true ? 'minimalService' : 'bursting'}, whose hosts have no DNS names that all brokers know`,
      value: true,
      remedy: 'remove one of them',
    });
  const longest = `${resource.metadata.name}-${maxSize(spec) - 1}${hostDomain(resource, spec)}`;
  if (longest.length > MAX_HOST_LENGTH)
    issues.push({
      path,
      message: `makes the host name ${longest} longer than the ${MAX_HOST_LENGTH} characters that Flux supports`,
      value: true,
      remedy: 'choose shorter names or remove it',
    });
  return issues;
}
