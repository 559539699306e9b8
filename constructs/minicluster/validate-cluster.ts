/** Fields of the cluster that don't go together. */
import { restartPolicy } from './broker-pod';
import type { Parts } from './context';
import type { ContainerSpec } from './resource';
import type { DefaultedSpec } from './schema';
import type { Problem } from './validation-issue';

export function clusterProblems(parts: Parts): Problem[] {
  const { spec } = parts;
  return [
    sizes(spec),
    runners(spec),
    services(spec),
    spec.workload === 'StatefulSet' ? statefulSet(spec) : policies(parts),
    startupProbes(spec),
    processes(spec),
    flux(spec),
  ].flat();
}

function sizes({ size, minSize, maxSize }: DefaultedSpec): Problem[] {
  const problems: Problem[] = [];
  if (maxSize !== undefined && maxSize < size)
    problems.push({
      path: 'spec.maxSize',
      what: `must not be smaller than size, which is ${size}`,
      value: maxSize,
      remedy: 'raise maxSize or lower size',
    });
  if (minSize !== undefined && minSize > size)
    problems.push({
      path: 'spec.minSize',
      what: `must not be larger than size, which is ${size}`,
      value: minSize,
      remedy: 'lower minSize or raise size',
    });
  return problems;
}

function runners({ containers }: DefaultedSpec): Problem[] {
  if (containers.length === 1) return [];
  const count = containers.filter(({ runFlux }) => runFlux === true).length;
  const problems: Problem[] = containers.flatMap((each, index) =>
    each.runFlux === true ? [] : unnamed(each, `spec.containers[${index}]`, 'beside the one that runs Flux'),
  );
  if (count !== 1)
    problems.unshift({
      path: 'spec.containers',
      what: 'must have exactly one container with runFlux, the one that runs the brokers',
      value: count,
      remedy: 'set it on that one only',
    });
  return problems;
}

function unnamed({ name }: ContainerSpec, path: string, where: string): Problem[] {
  if (name !== undefined) return [];
  return [
    { path: `${path}.name`, what: `is needed ${where}`, value: undefined, remedy: 'name the container' },
  ];
}

/** Blocks that only a broker's container runs. */
const BROKER_BLOCKS = ['pre', 'brokerPre', 'workerPre'] as const;

function services({ services }: DefaultedSpec): Problem[] {
  if (services === undefined) return [];
  return services.flatMap((each, index) => {
    const path = `spec.services[${index}]`;
    const runs: Problem = {
      path: `${path}.runFlux`,
      what: "can't run Flux",
      value: true,
      remedy: 'move the container to spec.containers',
    };
    const blocks = BROKER_BLOCKS.filter((name) => each.commands?.[name] !== undefined).map((name) => ({
      path: `${path}.commands.${name}`,
      what: 'never runs, because a service has no broker',
      value: each.commands?.[name],
      remedy: 'use commands.init',
    }));
    return [...unnamed(each, path, 'by every service'), ...(each.runFlux === true ? [runs] : []), ...blocks];
  });
}

const JOB_FIELDS = ['suspend', 'backoffLimit', 'ttlSecondsAfterFinished', 'podFailurePolicy'] as const;

function statefulSet(spec: DefaultedSpec): Problem[] {
  const problems: Problem[] = JOB_FIELDS.filter((name) => spec[name] !== undefined).map((name) => ({
    path: `spec.${name}`,
    what: 'is nothing a StatefulSet has, because it never ends',
    value: spec[name],
    remedy: 'leave it out or use workload Job',
  }));
  if (spec.interactive !== true)
    problems.unshift({
      path: 'spec.workload',
      what: 'starts what ends again for ever, so it is for interactive clusters',
      value: 'StatefulSet',
      remedy: 'set interactive or use Job',
    });
  return problems;
}

function policies(parts: Parts): Problem[] {
  const { podFailurePolicy } = parts.spec;
  const policy = restartPolicy(parts);
  if (podFailurePolicy === undefined || policy === 'Never') return [];
  return [
    {
      path: 'spec.podFailurePolicy',
      what: `goes with pod.restartPolicy Never only, not with ${policy}`,
      value: podFailurePolicy,
      remedy: 'set pod.restartPolicy to Never or leave podFailurePolicy out',
    },
  ];
}

/** The broker starts when the sidecars have started, and that is when their probes say so: both would wait for ever. */
function startupProbes({ containers, flux }: DefaultedSpec): Problem[] {
  if (containers.length === 1 || flux.noWaitSocket === true || flux.disableSocket === true) return [];
  return containers.flatMap(({ runFlux, noWrapEntrypoint, startupProbe }, index) => {
    if (runFlux === true || noWrapEntrypoint === true || startupProbe === undefined) return [];
    return {
      path: `spec.containers[${index}].startupProbe`,
      what: 'holds back the broker, whose socket this container waits for',
      value: startupProbe,
      remedy: 'use readinessProbe or set flux.noWaitSocket',
    };
  });
}

function processes({ shareProcessNamespace, pod }: DefaultedSpec): Problem[] {
  if (shareProcessNamespace !== true || pod.hostPID !== true) return [];
  const what = 'and pod.hostPID exclude each other';
  return [{ path: 'spec.shareProcessNamespace', what, value: true, remedy: 'leave one of them out' }];
}

function flux({ flux }: DefaultedSpec): Problem[] {
  const { curveCert, curveCertSecret, minimalService, topology } = flux;
  const problems: Problem[] = [];
  if (curveCert !== undefined && curveCertSecret !== undefined)
    problems.push({
      path: 'spec.flux.curveCertSecret',
      what: 'and curveCert are two certificates',
      value: curveCertSecret,
      remedy: 'give one',
    });
  problems.push(...bursting(flux));
  if (minimalService === true && topology !== undefined)
    problems.push({
      path: 'spec.flux.topology',
      what: 'needs names for all pods, and minimalService gives one to the lead only',
      value: topology,
      remedy: 'leave out topology or minimalService',
    });
  return problems;
}

function bursting({ bursting, curveCert, curveCertSecret }: DefaultedSpec['flux']): Problem[] {
  if (bursting === undefined) return [];
  const problems: Problem[] = [];
  if (bursting.hostlist !== undefined && bursting.clusters !== undefined)
    problems.push({
      path: 'spec.flux.bursting.hostlist',
      what: 'already names every host',
      value: bursting.hostlist,
      remedy: 'leave out bursting.clusters',
    });
  if (bursting.leadBroker !== undefined && curveCert === undefined && curveCertSecret === undefined)
    problems.push({
      path: 'spec.flux.bursting.leadBroker',
      what: 'lets in brokers with its own certificate only',
      value: bursting.leadBroker.name,
      remedy: 'give curveCertSecret, a Secret with the certificate of that cluster',
    });
  return problems;
}
