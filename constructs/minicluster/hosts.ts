/** The hosts of the Flux instance, in the order of their ranks. */
import type { MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';

/** One entry of `[bootstrap] hosts` in broker.toml. */
export interface Host {
  /** Hostlist of RFC 29, e.g. `lammps-[0-3]`. */
  readonly host: string;
  /** URI at which other brokers reach it. @default - its host name */
  readonly connect?: string;
}

/** Returns `name-[first-last]`. */
function hostRange(name: string, size: number, first = 0): string {
  return `${name}-[${first}-${first + size - 1}]`;
}

/** What follows the host name of a pod in the names of the hosts: nothing, or the DNS domain of the pods. */
export function hostDomain(resource: MiniClusterResource, spec: DefaultedSpec): string {
  return spec.network.fqdn === true ? `.${serviceAddress(resource, spec)}` : '';
}

export function maxSize({ maxSize = 0, size }: DefaultedSpec): number {
  return Math.max(maxSize, size);
}

/** Port of every broker that names none. */
const DEFAULT_PORT = 8050;

export function brokerPort({ network }: DefaultedSpec): number {
  return network.port ?? DEFAULT_PORT;
}

/** Name of the headless Service, which is the subdomain of the pods too. */
export function headlessName({ metadata }: MiniClusterResource, { network }: DefaultedSpec): string {
  return network.headlessName ?? metadata.name;
}

/** DNS name of that Service: fully qualified if the namespace is known. */
export function serviceAddress(resource: MiniClusterResource, spec: DefaultedSpec): string {
  const { namespace } = resource.metadata;
  const name = headlessName(resource, spec);
  return namespace === undefined ? name : `${name}.${namespace}.svc.${spec.network.clusterDomain}`;
}

/** Whether the brokers join the lead broker of another MiniCluster. */
export function joinsAnother({ flux }: DefaultedSpec): boolean {
  return flux.bursting?.leadBroker !== undefined;
}

/** Entries of `[bootstrap] hosts`, in the order of ranks. */
export function hosts(resource: MiniClusterResource, spec: DefaultedSpec): Host[] {
  const { bursting } = spec.flux;
  if (bursting?.hostlist !== undefined) return [{ host: bursting.hostlist }];
  const own = hostRange(resource.metadata.name, maxSize(spec));
  if (bursting?.leadBroker !== undefined) {
    const { address, name, port = DEFAULT_PORT, size } = bursting.leadBroker;
    return [
      { host: `${name}-0`, connect: `tcp://${inUri(address)}:${port}` },
      ...(size > 1 ? [{ host: hostRange(name, size - 1, 1) }] : []),
      { host: own },
    ];
  }
  const all = ownHosts(resource, spec);
  bursting?.clusters?.forEach(({ name, size }, index) => {
    all.push({ host: hostRange(name ?? `burst-${index}`, size ?? spec.size) });
  });
  return all;
}

/** An IPv6 address has brackets in a URI. */
function inUri(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;
}

/** With a minimal Service only the lead broker is reachable, at the address of the Service. */
function ownHosts(resource: MiniClusterResource, spec: DefaultedSpec): Host[] {
  const { name } = resource.metadata;
  const size = maxSize(spec);
  if (spec.flux.minimalService !== true)
    return [{ host: `${hostRange(name, size)}${hostDomain(resource, spec)}` }];
  const lead = { host: `${name}-0`, connect: `tcp://${serviceAddress(resource, spec)}:%p` };
  return size > 1 ? [lead, { host: hostRange(name, size - 1, 1) }] : [lead];
}

/** Joins the hosts of all entries to one hostlist. */
export function hostlist(all: readonly Host[]): string {
  return all.map(({ host }) => host).join(',');
}
