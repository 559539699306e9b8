/** Who is in the instance: hosts in the order of their ranks. */
import type { MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';

export interface Host {
  /** RFC 29, e.g. `lammps-[0-3]`. */
  readonly host: string;
  /** Where others reach it. @default - by its host name */
  readonly connect?: string;
}

/** `name-[first-last]` */
function range(name: string, size: number, first = 0): string {
  return `${name}-[${first}-${first + size - 1}]`;
}

export function maxSize({ maxSize = 0, size }: DefaultedSpec): number {
  return Math.max(maxSize, size);
}

/** Of every broker, unless its cluster says otherwise. */
const PORT = 8050;

export function brokerPort({ network }: DefaultedSpec): number {
  return network.port ?? PORT;
}

/** Name of the headless Service, which is the pods' subdomain too. */
export function headlessName({ metadata }: MiniClusterResource, { network }: DefaultedSpec): string {
  return network.headlessName ?? metadata.name;
}

/** The Service's name as pods resolve it: whole where the namespace is known. */
export function serviceAddress(resource: MiniClusterResource, spec: DefaultedSpec): string {
  const { namespace } = resource.metadata;
  const name = headlessName(resource, spec);
  return namespace === undefined ? name : `${name}.${namespace}.svc.${spec.network.clusterDomain}`;
}

/** Brokers of this cluster join the lead of another one. */
export function joinsAnother({ flux }: DefaultedSpec): boolean {
  return flux.bursting?.leadBroker !== undefined;
}

/** Entries of `[bootstrap] hosts`, in the order of ranks. */
export function hosts(resource: MiniClusterResource, spec: DefaultedSpec): Host[] {
  const { bursting } = spec.flux;
  if (bursting?.hostlist !== undefined) return [{ host: bursting.hostlist }];
  const own = range(resource.metadata.name, maxSize(spec));
  if (bursting?.leadBroker !== undefined) {
    const { address, name, port = PORT, size } = bursting.leadBroker;
    return [
      { host: `${name}-0`, connect: `tcp://${address}:${port}` },
      ...(size > 1 ? [{ host: range(name, size - 1, 1) }] : []),
      { host: own },
    ];
  }
  const all = ownHosts(resource, spec);
  bursting?.clusters?.forEach(({ name, size }, index) => {
    all.push({ host: range(name ?? `burst-${index}`, size ?? spec.size) });
  });
  return all;
}

/** With a minimal service only the lead can be reached, and by the Service's own address. */
function ownHosts(resource: MiniClusterResource, spec: DefaultedSpec): Host[] {
  const { name } = resource.metadata;
  const size = maxSize(spec);
  if (spec.flux.minimalService !== true) return [{ host: range(name, size) }];
  const lead = { host: `${name}-0`, connect: `tcp://${serviceAddress(resource, spec)}:%p` };
  return size > 1 ? [lead, { host: range(name, size - 1, 1) }] : [lead];
}

/** All of them as one hostlist. */
export function hostlist(all: readonly Host[]): string {
  return all.map(({ host }) => host).join(',');
}
