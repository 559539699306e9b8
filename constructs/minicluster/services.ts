/** The Services of brokers, sidecars and services, and the Deployment of the services' pod. */
import { MINICLUSTER_LABEL } from '../api/labels';
import { container, portName, TEMPORARY_VOLUME } from './container';
import type { ClusterContext } from './context';
import { brokerPort, headlessName } from './hosts';
import { LazyManifest } from './manifest';
import { BROKER_LABEL, portServiceName } from './names';
import { omitEmpty, omitUndefined } from './object';
import { objectMetadata, podAnnotations, userAnnotation } from './object-metadata';
import { basePod, nodeAffinity } from './pod';
import type { ContainerSpec, ManifestObject } from './resource';
import { type NamedObject, pushUserVolumes } from './volumes';

/** Label of the services' pod; brokers' pods have BROKER_LABEL. */
const SERVICES_LABEL = 'flux-framework.org/services';

/** The Service that gives the pods their DNS names; with `minimalService` it selects the lead broker and has a cluster IP. */
export function headlessService(context: ClusterContext): LazyManifest {
  return service(objectMetadata(context, context.names.service), () => headlessServiceSpec(context));
}

function headlessServiceSpec({ resource, spec }: ClusterContext): Record<string, unknown> {
  const { name } = resource.metadata;
  const port = brokerPort(spec);
  const minimal = spec.flux.minimalService === true;
  return omitUndefined({
    clusterIP: minimal ? undefined : 'None',
    ports: [{ name: 'flux', port, targetPort: port }],
    // Brokers connect to each other before any of them is ready.
    publishNotReadyAddresses: true,
    selector: minimal
      ? { [BROKER_LABEL]: name, [indexLabel(spec.workload)]: '0' }
      : { [MINICLUSTER_LABEL]: name },
  });
}

function indexLabel(workload: string): string {
  return workload === 'StatefulSet'
    ? 'apps.kubernetes.io/pod-index'
    : 'batch.kubernetes.io/job-completion-index';
}

/** One Service for each sidecar or service with ports. */
export function portServices(context: ClusterContext): LazyManifest[] {
  const { spec, sidecars } = context;
  if (sidecars.length === 0 && spec.services === undefined) return [];
  return [
    ...portServicesOf(sidecars, context, BROKER_LABEL),
    ...portServicesOf(spec.services ?? [], context, SERVICES_LABEL),
  ];
}

function portServicesOf(
  containers: readonly ContainerSpec[],
  context: ClusterContext,
  label: string,
): LazyManifest[] {
  const { resource } = context;
  return containers
    .filter(({ ports = [] }) => ports.length > 0)
    .map((from) =>
      service(objectMetadata(context, portServiceName(resource, from)), () => ({
        ports: (from.ports ?? []).map((port) => ({ name: portName(port), port, targetPort: port })),
        selector: { [label]: resource.metadata.name },
      })),
    );
}

function service(metadata: ManifestObject['metadata'], spec: () => Record<string, unknown>): LazyManifest {
  return new LazyManifest('v1', 'Service', metadata, () => ({ spec: spec() }));
}

/** The Deployment of the services' pod, whose DNS name is NAME-services in the headless Service. */
export function servicesDeployment(context: ClusterContext): LazyManifest[] {
  const { resource, spec, names } = context;
  const { services = [] } = spec;
  if (services.length === 0) return [];
  const selector = { [SERVICES_LABEL]: resource.metadata.name };
  const labels = { ...spec.pod.labels, ...context.labels, ...selector };
  const deployment = new LazyManifest(
    'apps/v1',
    'Deployment',
    objectMetadata(context, names.services),
    () => ({
      spec: {
        replicas: 1,
        selector: { matchLabels: selector },
        // During a rolling update two pods would share one host name and one volume.
        strategy: { type: 'Recreate' },
        template: {
          metadata: omitUndefined({
            annotations: omitEmpty({ ...podAnnotations(context), ...userAnnotation(context) }),
            labels,
          }),
          spec: servicesPod(context, services),
        },
      },
    }),
  );
  return [deployment];
}

function servicesPod(context: ClusterContext, services: readonly ContainerSpec[]): Record<string, unknown> {
  const { resource, spec, names } = context;
  const required = nodeAffinity(spec);
  return omitUndefined({
    ...basePod(spec, services),
    hostname: names.services,
    subdomain: headlessName(resource, spec),
    affinity: required === undefined ? undefined : { nodeAffinity: required },
    containers: services.map((from) => serviceContainer(context, from)),
    volumes: volumes(context, services),
  });
}

function volumes({ spec }: ClusterContext, services: readonly ContainerSpec[]) {
  const all: NamedObject[] = spec.pod.restricted === true ? [{ name: TEMPORARY_VOLUME, emptyDir: {} }] : [];
  pushUserVolumes(all, ...services);
  return all.length === 0 ? undefined : all;
}

/** Runs the entrypoint of its image, unless the spec has a command or scripts. */
function serviceContainer({ spec }: ClusterContext, from: ContainerSpec) {
  const { init, servicePre, script, post } = from.commands ?? {};
  const lines = [init, servicePre, script ?? from.command, post].filter((text) => text !== undefined);
  const wrapped = from.noWrapEntrypoint !== true && lines.length > 0;
  return container(spec, from, {
    name: from.name ?? '',
    command: wrapped ? ['/bin/sh', '-c', lines.join('\n')] : undefined,
  });
}
