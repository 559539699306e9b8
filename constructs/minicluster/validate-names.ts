/** Names that would be too long, or there twice. */

import type { Parts } from './context';
import { maxSize } from './hosts';
import { LABEL, portServiceName } from './names';
import { sorted } from './object';
import { hasView } from './pod-paths';
import type { ContainerSpec, MiniClusterResource } from './resource';
import type { Problem } from './validation-issue';
import { volumeSource } from './volumes';

const DNS_LABEL = 63;
const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export function nameProblems({ metadata: { name, namespace } }: MiniClusterResource): Problem[] {
  const problems: Problem[] = [];
  const remedy = 'use lower-case letters, digits and "-", with a letter first';
  if (!NAME.test(name))
    problems.push({ path: 'metadata.name', what: 'is no name for a cluster', value: name, remedy });
  if (namespace !== undefined && !LABEL.test(namespace))
    problems.push({
      path: 'metadata.namespace',
      what: 'is no name of a namespace',
      value: namespace,
      remedy,
    });
  return problems;
}

/** Names made of several fields. */
export function sharedNameProblems(parts: Parts): Problem[] {
  return [hostNameProblems(parts), containerNames(parts), serviceNames(parts), volumeNames(parts)].flat();
}

/** A pod's host name is a label of DNS. */
function hostNameProblems({ resource: { metadata }, spec, names }: Parts): Problem[] {
  const last = `${metadata.name}-${maxSize(spec) - 1}`;
  const served = (spec.services ?? []).length > 0;
  const longest = served && last.length <= DNS_LABEL ? names.services : last;
  if (longest.length <= DNS_LABEL) return [];
  const what = `is too long: a pod would be called ${longest}, and a host name has at most ${DNS_LABEL} characters`;
  return [{ path: 'metadata.name', what, value: metadata.name, remedy: 'give a shorter name' }];
}

function containerNames({ spec, resource }: Parts): Problem[] {
  const view = hasView(spec) ? [spec.flux.container?.name ?? 'flux-view'] : [];
  const alone = spec.containers.length === 1;
  const names = spec.containers.map(
    ({ name, runFlux }) => name ?? (runFlux === true || alone ? resource.metadata.name : undefined),
  );
  const services = (spec.services ?? []).map(({ name }) => name);
  return [...twice(names, 'spec.containers', 'name', view), ...twice(services, 'spec.services', 'name', [])];
}

function serviceNames({ resource, spec, sidecars, names }: Parts): Problem[] {
  const withPorts = [...sidecars, ...(spec.services ?? [])].filter(({ ports = [] }) => ports.length > 0);
  if (withPorts.length === 0) return [];
  const all = withPorts.map((each) => portServiceName(resource, each));
  const long = all
    .filter((name) => name.length > DNS_LABEL)
    .map((name) => ({
      path: 'spec',
      what: `makes a Service with a name of more than ${DNS_LABEL} characters`,
      value: name,
      remedy: 'give the container a serviceName',
    }));
  return [...long, ...twice(all, 'spec', 'serviceName', [names.service])];
}

function twice(
  names: readonly (string | undefined)[],
  path: string,
  field: string,
  taken: readonly string[],
): Problem[] {
  if (names.length + taken.length < 2) return [];
  const seen = new Set(taken);
  return names.flatMap((name, index) => {
    if (name === undefined) return [];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const where = path === 'spec' ? `${path} (${field})` : `${path}[${index}].${field}`;
    return [{ path: where, what: 'is there twice', value: name, remedy: 'choose another name' }];
  });
}

/** One name, one volume, in whatever container. */
function volumeNames({ spec }: Parts): Problem[] {
  return [
    ...volumeNamesOf(spec.containers, 'spec.containers'),
    ...volumeNamesOf(spec.services ?? [], 'spec.services'),
  ];
}

function volumeNamesOf(containers: readonly ContainerSpec[], group: string): Problem[] {
  if (containers.length < 2) return [];
  const sources = new Map<string, string>();
  return containers.flatMap(({ volumes }, index) =>
    sorted(volumes).flatMap(([name, volume]) => {
      const source = JSON.stringify(volumeSource(volume));
      const before = sources.get(name) ?? source;
      sources.set(name, before);
      if (before === source) return [];
      const path = `${group}[${index}].volumes.${name}`;
      const what = 'is another volume than the one of that name in a container before it';
      return [{ path, what, value: volume, remedy: 'give it another name or the same source' }];
    }),
  );
}
