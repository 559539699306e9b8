/** Names and labels of what a MiniCluster is made of. */
import { MINICLUSTER_LABEL } from '../api/labels';
import type { MiniClusterResource } from './resource';

/** A label of DNS, as namespaces and volumes are called. */
export const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface ObjectNames {
  /** The Job or StatefulSet, and the prefix of the brokers' host names. */
  readonly workload: string;
  /** ConfigMap of the scripts. */
  readonly scripts: string;
  /** ConfigMap of what this cluster is: brokers' configuration, size, command. */
  readonly config: string;
  /** The headless Service. */
  readonly service: string;
  /** Secret of the certificate, under the key `curve.cert`. */
  readonly certificate: string;
  /** Deployment of the services, and its pod's host name. */
  readonly services: string;
  /** Job, ServiceAccount and Role that make the certificate. */
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

/** Label of the brokers' pods alone; autoscalers select by it, as with upstream. */
export const BROKER_LABEL = 'hpa-selector';

/** For the status: the scale subresource's selector. */
export function brokerSelector({ metadata: { name } }: MiniClusterResource): string {
  return `${BROKER_LABEL}=${name}`;
}

/** Name of the Service of a container's ports. */
export function portServiceName(
  { metadata }: MiniClusterResource,
  container: { name?: string; serviceName?: string },
): string {
  return container.serviceName ?? `${metadata.name}-${container.name ?? ''}`;
}
