/** Services: what brokers find each other by, what ports of sidecars and services are reached by, and the services' own pod. */
import { MINICLUSTER_LABEL } from '../api/labels';
import { container, portName, TEMPORARY_VOLUME } from './container';
import type { Parts } from './context';
import { brokerPort, headlessName } from './hosts';
import { BROKER_LABEL, portServiceName } from './names';
import { given } from './object';
import { objectMetadata } from './object-metadata';
import { basePod, nodeAffinity } from './pod';
import type { ContainerSpec, ManifestObject } from './resource';
import { type Named, pushUserVolumes } from './volumes';

/** Which of a cluster's pods: its brokers have BROKER_LABEL, the services' pod this one. */
const SERVICES_LABEL = 'flux-framework.org/services';

/** The Service that gives pods their names. With `minimalService` only the lead is behind it, with an address that stays. */
export function headlessService(parts: Parts): ManifestObject {
  const { resource, spec, names } = parts;
  const { name } = resource.metadata;
  const port = brokerPort(spec);
  const minimal = spec.flux.minimalService === true;
  const own = {
    clusterIP: minimal ? undefined : 'None',
    ports: [{ name: 'flux', port, targetPort: port }],
    // Brokers look for each other before any of them is ready.
    publishNotReadyAddresses: true,
    selector: minimal
      ? { [BROKER_LABEL]: name, [indexLabel(spec.workload)]: '0' }
      : { [MINICLUSTER_LABEL]: name },
  };
  return service(objectMetadata(parts, names.service), given(own));
}

function indexLabel(workload: string): string {
  return workload === 'StatefulSet'
    ? 'apps.kubernetes.io/pod-index'
    : 'batch.kubernetes.io/job-completion-index';
}

/** One Service per container with ports, under a name of its own in the namespace. */
export function portServices(parts: Parts): ManifestObject[] {
  const { spec, sidecars } = parts;
  if (sidecars.length === 0 && spec.services === undefined) return [];
  return [
    ...portServicesOf(sidecars, parts, BROKER_LABEL),
    ...portServicesOf(spec.services ?? [], parts, SERVICES_LABEL),
  ];
}

function portServicesOf(containers: readonly ContainerSpec[], parts: Parts, label: string): ManifestObject[] {
  const { resource } = parts;
  return containers
    .filter(({ ports = [] }) => ports.length > 0)
    .map((each) =>
      service(objectMetadata(parts, portServiceName(resource, each)), {
        ports: (each.ports ?? []).map((port) => ({ name: portName(port), port, targetPort: port })),
        selector: { [label]: resource.metadata.name },
      }),
    );
}

function service(metadata: ManifestObject['metadata'], spec: Record<string, unknown>): ManifestObject {
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

/** The services' pod, kept alive by a Deployment. It is reached as NAME-services in the headless Service too. */
export function servicesDeployment(parts: Parts): ManifestObject[] {
  const { resource, spec, names } = parts;
  const { services = [] } = spec;
  if (services.length === 0) return [];
  const own = { [SERVICES_LABEL]: resource.metadata.name };
  const labels = { ...spec.pod.labels, ...parts.labels, ...own };
  const required = nodeAffinity(spec);
  const pod = given({
    ...basePod(spec, services),
    hostname: names.services,
    subdomain: headlessName(resource, spec),
    affinity: required === undefined ? undefined : { nodeAffinity: required },
    containers: services.map((each) => serviceContainer(parts, each)),
    volumes: volumes(parts, services),
  });
  const deployment: ManifestObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: objectMetadata(parts, names.services),
    spec: {
      replicas: 1,
      selector: { matchLabels: own },
      // Two pods at once would have one host name and one volume.
      strategy: { type: 'Recreate' },
      template: { metadata: given({ annotations: spec.pod.annotations, labels }), spec: pod },
    },
  };
  return [deployment];
}

function volumes({ spec }: Parts, services: readonly ContainerSpec[]) {
  const all: Named[] = spec.pod.restricted === true ? [{ name: TEMPORARY_VOLUME, emptyDir: {} }] : [];
  pushUserVolumes(all, ...services);
  return all.length === 0 ? undefined : all;
}

/** Its image's entrypoint, unless the spec says what to run. */
function serviceContainer({ spec }: Parts, from: ContainerSpec) {
  const { init, servicePre, script, post } = from.commands ?? {};
  const lines = [init, servicePre, script ?? from.command, post].filter((each) => each !== undefined);
  const wrapped = from.noWrapEntrypoint !== true && lines.length > 0;
  return container(spec, from, {
    name: from.name ?? '',
    command: wrapped ? ['/bin/sh', '-c', lines.join('\n')] : undefined,
  });
}
