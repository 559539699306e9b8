/** Names that are invalid, too long or used twice. */
import type { ClusterContext } from './context';
import { maxSize } from './hosts';
import { DNS_LABEL, portServiceName } from './names';
import { sortedEntries } from './object';
import { hasView } from './pod-paths';
import type { ContainerSpec, MiniClusterResource } from './resource';
import type { ValidationIssue } from './validation-issue';
import { volumeSource } from './volumes';

const MAX_LABEL_LENGTH = 63;
const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export function nameIssues({ metadata: { name, namespace } }: MiniClusterResource): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  if (!NAME.test(name))
    issues.push({
      path: 'metadata.name',
      message: 'is not a valid name of a MiniCluster',
      value: name,
      remedy: 'use lower-case letters, digits and "-", beginning with a letter',
    });
  if (namespace !== undefined && !DNS_LABEL.test(namespace))
    issues.push({
      path: 'metadata.namespace',
      message: 'is not a valid name of a namespace',
      value: namespace,
      remedy: 'use at most 63 lower-case letters, digits and "-"',
    });
  return issues;
}

/** Mistakes in names that are derived from several fields, or must differ from each other. */
export function derivedNameIssues(context: ClusterContext): ValidationIssue[] {
  return [
    hostNameIssues(context),
    containerNameIssues(context),
    serviceNameIssues(context),
    volumeNameIssues(context),
  ].flat();
}

/** The host name of a pod is a DNS label. */
function hostNameIssues({ resource: { metadata }, spec, names }: ClusterContext): ValidationIssue[] {
  const last = `${metadata.name}-${maxSize(spec) - 1}`;
  const hasServices = (spec.services ?? []).length > 0;
  const longest = hasServices && last.length <= MAX_LABEL_LENGTH ? names.services : last;
  if (longest.length <= MAX_LABEL_LENGTH) return [];
  const message = `is too long, because the host name ${longest} of a pod exceeds ${MAX_LABEL_LENGTH} characters`;
  return [{ path: 'metadata.name', message, value: metadata.name, remedy: 'choose a shorter name' }];
}

/** A name and the field that it comes from. */
interface NamedField {
  readonly path: string;
  readonly name: string;
}

function containerNameIssues({ spec, resource }: ClusterContext): ValidationIssue[] {
  const { containers, services = [], flux } = spec;
  const view = hasView(spec) ? [flux.container?.name ?? 'flux-view'] : [];
  const names = containers.flatMap(({ name, runFlux }, index) => {
    const isBroker = runFlux === true || containers.length === 1;
    const actual = name ?? (isBroker ? resource.metadata.name : undefined);
    return actual === undefined ? [] : { path: `spec.containers[${index}].name`, name: actual };
  });
  const serviceNames = services.flatMap(({ name }, index) =>
    name === undefined ? [] : { path: `spec.services[${index}].name`, name },
  );
  return [...duplicateIssues(names, view), ...duplicateIssues(serviceNames, [])];
}

function serviceNameIssues(context: ClusterContext): ValidationIssue[] {
  const { spec, names } = context;
  const services = [
    ...portServiceNames(context, spec.containers, 'spec.containers'),
    ...portServiceNames(context, spec.services ?? [], 'spec.services'),
  ];
  const long = services
    .filter(({ name }) => name.length > MAX_LABEL_LENGTH)
    .map(({ path, name }) => ({
      path,
      message: `must have at most ${MAX_LABEL_LENGTH} characters`,
      value: name,
      remedy: 'set serviceName to a shorter one',
    }));
  return [...long, ...duplicateIssues(services, [names.service])];
}

function portServiceNames(
  { resource, sidecars }: ClusterContext,
  containers: readonly ContainerSpec[],
  list: string,
): NamedField[] {
  return containers.flatMap((container, index) => {
    const isBroker = list === 'spec.containers' && !sidecars.includes(container);
    if (isBroker || (container.ports ?? []).length === 0) return [];
    return { path: `${list}[${index}].serviceName`, name: portServiceName(resource, container) };
  });
}

function duplicateIssues(fields: readonly NamedField[], taken: readonly string[]): ValidationIssue[] {
  if (fields.length + taken.length < 2) return [];
  const seen = new Set(taken);
  return fields.flatMap(({ path, name }) => {
    if (seen.has(name))
      return [{ path, message: 'is used twice', value: name, remedy: 'choose another name' }];
    seen.add(name);
    return [];
  });
}

/** A name stands for one volume in all containers of a pod. */
function volumeNameIssues({ spec }: ClusterContext): ValidationIssue[] {
  return [
    ...volumeNameIssuesOf(spec.containers, 'spec.containers'),
    ...volumeNameIssuesOf(spec.services ?? [], 'spec.services'),
  ];
}

function volumeNameIssuesOf(containers: readonly ContainerSpec[], list: string): ValidationIssue[] {
  if (containers.length < 2) return [];
  const sources = new Map<string, string>();
  return containers.flatMap(({ volumes }, index) =>
    sortedEntries(volumes).flatMap(([name, volume]) => {
      const source = JSON.stringify(volumeSource(volume));
      const first = sources.get(name) ?? source;
      sources.set(name, first);
      if (first === source) return [];
      const path = `${list}[${index}].volumes.${name}`;
      const message = 'has another source than the volume of the same name in a container before it';
      return [{ path, message, value: volume, remedy: 'use another name or the same source' }];
    }),
  );
}
