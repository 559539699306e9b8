/** Names and labels of the objects that a MiniCluster consists of. */
import { MINICLUSTER_LABEL } from '../api/labels';
import type { MiniClusterResource } from './resource';

/** A DNS label (RFC 1123), which names of namespaces and volumes must be. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface ObjectNames {
  /** The Job or StatefulSet; prefix of the host names of the brokers. */
  readonly workload: string;
  /** ConfigMap of the scripts, which do not depend on the size. */
  readonly scripts: string;
  /** ConfigMap of the configuration of the brokers, the sizes and the command. */
  readonly config: string;
  /** The headless Service. */
  readonly service: string;
  /** Secret with the certificate under the key `curve.cert`. */
  readonly certificate: string;
  /** Deployment of the services; host name of its pod. */
  readonly services: string;
  /** Job, ServiceAccount and Role that create the certificate. */
  readonly keygen: string;
}

export function objectNames({ metadata: { name }, spec }: MiniClusterResource): ObjectNames {
  return {
    workload: name,
    scripts: `${name}-entrypoint`,
    config: `${name}-config`,
    service: spec.network?.headlessName ?? name,
    certificate: spec.flux?.curveCertSecret ?? `${name}-curve`,
    services: `${name}-services`,
    keygen: `${name}-keygen`,
  };
}

/** Labels of every object. */
export function objectLabels({ metadata: { name } }: MiniClusterResource): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': 'minicluster',
    [MINICLUSTER_LABEL]: name,
  };
}

/** Label that only the brokers' pods have; autoscalers select by it, as they do with flux-operator. */
export const BROKER_LABEL = 'hpa-selector';

/** Selector of the brokers' pods, for the scale subresource in the status. */
export function brokerSelector({ metadata: { name } }: MiniClusterResource): string {
  return `${BROKER_LABEL}=${name}`;
}

/** Name of the Service for the ports of a container. */
export function portServiceName(
  { metadata }: MiniClusterResource,
  container: { name?: string; serviceName?: string },
): string {
  return container.serviceName ?? `${metadata.name}-${container.name ?? ''}`;
}
