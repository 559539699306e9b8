import type { MiniClusterSpec } from './resource';

/** How the brokers find and reach each other. */
export interface MiniClusterNetworkProps {
  /** Name of the headless Service, which is the DNS subdomain of the pods too. @default - the name of the MiniCluster */
  readonly headlessName?: string;
  /** DNS domain of the Kubernetes cluster. @default cluster.local */
  readonly clusterDomain?: string;
  /**
   * Registers the pods in Flux by their fully qualified DNS names, as `flux hostlist` prints them then, for programs that
   * connect to the hosts of a job.
   * @default false
   */
  readonly fqdn?: boolean;
  /** Port on which the brokers listen. @default 8050 */
  readonly port?: number;
  /**
   * Replaces the headless Service with one that has a cluster IP and selects the lead broker only; use it where
   * headless Services are slow or forbidden.
   * @default false
   */
  readonly minimalService?: boolean;
  /** Runs the pods in the network of their node, so at most one of them fits on a node. @default false */
  readonly hostNetwork?: boolean;
  /** DNS policy of the pods. @default - ClusterFirst, with `hostNetwork` ClusterFirstWithHostNet */
  readonly dnsPolicy?: NonNullable<NonNullable<MiniClusterSpec['pod']>['dnsPolicy']>;
}
