/** The variables that the kubelet sets for Services where a pod's enableServiceLinks is not false (k8s.io/kubernetes/pkg/kubelet/envvars). */
import type { KubeObject } from '../cluster/api';

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  /** @default TCP */
  readonly protocol?: string;
}

export interface NamedService {
  readonly name: string;
  readonly ports: readonly ServicePort[];
}

/** A Service without a cluster IP makes none, so a hostile one has one. */
const CLUSTER_IP = '10.96.7.7';

export function serviceVariables({ name, ports }: NamedService): Record<string, string> {
  const prefix = variable(name);
  const [first] = ports;
  if (first === undefined) return {};
  const variables: Record<string, string> = {
    [`${prefix}_SERVICE_HOST`]: CLUSTER_IP,
    [`${prefix}_SERVICE_PORT`]: String(first.port),
  };
  for (const port of ports)
    if (port.name !== undefined)
      variables[`${prefix}_SERVICE_PORT_${variable(port.name)}`] = String(port.port);
  variables[`${prefix}_PORT`] = url(first);
  for (const port of ports) {
    const link = `${prefix}_PORT_${port.port}_${port.protocol ?? 'TCP'}`;
    variables[link] = url(port);
    variables[`${link}_PROTO`] = (port.protocol ?? 'TCP').toLowerCase();
    variables[`${link}_PORT`] = String(port.port);
    variables[`${link}_ADDR`] = CLUSTER_IP;
  }
  return variables;
}

function variable(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

function url({ port, protocol = 'TCP' }: ServicePort): string {
  return `${protocol.toLowerCase()}://${CLUSTER_IP}:${port}`;
}

/** The Services of synthesized manifests; a headless one counts too, since who reads manifests can give it an address. */
export function servicesOf(objects: readonly KubeObject[]): NamedService[] {
  return objects
    .filter(({ kind }) => kind === 'Service')
    .map(({ metadata, spec }) => ({
      name: metadata.name ?? '',
      ports: (spec as { ports: ServicePort[] }).ports,
    }));
}

const PORTS: readonly ServicePort[] = [
  { name: 'http', port: 80 },
  { name: 'library', port: 5432 },
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'sctp', port: 9, protocol: 'SCTP' },
];

/**
 * The Services whose variables come as near to this variable as any can: named like every beginning of it that a Service
 * can be named like.
 */
export function servicesNear(name: string): NamedService[] {
  const words = name.toLowerCase().split('_');
  return words
    .map((_, length) => words.slice(0, length + 1).join('-'))
    .filter((prefix) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(prefix))
    .map((prefix) => ({ name: prefix, ports: PORTS }));
}

/** What programs beside ours call their own: libraries that our roles are made of read these. */
const WELL_KNOWN = [
  'database',
  'postgres',
  'pg',
  'node',
  'kubernetes',
  'http',
  'https',
  'no',
  'ld',
  'grpc',
  'fluxion',
];

/** A namespace whose users named their Services as badly as they could. */
export function hostileServices(variables: readonly string[]): NamedService[] {
  return [...variables.flatMap(servicesNear), ...WELL_KNOWN.map((name) => ({ name, ports: PORTS }))];
}
