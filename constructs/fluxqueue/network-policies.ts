/**
 * NetworkPolicies of the stack's namespace: everything is denied, then each component gets the paths that it has.
 * docs/network.md lists them; test/constructs/fluxqueue/network-policies.test.ts compares that table with these objects and
 * with the ports of the manifests.
 */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { KubeObject } from '../kube-object';
import { type Component, type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { METRICS_PORT, REPORT_PORT } from './controller';
import type { Database } from './database';
import { FLUXION_METRICS_PORT } from './fluxion';
import { READER_PORT } from './reader';
import { WEBHOOK_PORT } from './webhook';

export interface NetworkPoliciesProps extends ComponentProps {
  readonly database: Database;
  readonly hasWebhook: boolean;
  readonly hasReader: boolean;
  readonly hasScheduler: boolean;
  readonly hasFluxion: boolean;
  readonly hasMiniClusters: boolean;
  readonly monitoringNamespace?: string;
  readonly apiserverPorts?: readonly number[];
  readonly apiserverCidrs?: readonly string[];
}

/** Policies see the port of the apiserver itself, behind its Service: 6443 by default, 443 in most managed clusters. */
const APISERVER_PORTS = [443, 6443];

export class NetworkPolicies extends Construct {
  constructor(
    scope: Construct,
    id: string,
    private readonly props: NetworkPoliciesProps,
  ) {
    super(scope, id);
    const { database, hasWebhook, hasReader, hasScheduler } = props;
    new KubeObject(this, 'default', k8s.KubeNetworkPolicy, {
      metadata: this.metadata('default-deny', 'base'),
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    });
    this.addController();
    if (hasWebhook) this.add('webhook', this.fromApiserver(WEBHOOK_PORT), []);
    if (hasReader) this.add('reader', this.fromApiserver(READER_PORT), this.toDatabase());
    if (database.isDeployed) {
      const clients = [...this.databaseClients(), ...(database.hasBackup ? [pods('backup')] : [])];
      this.add('database', [{ from: clients, ports: tcp(database.port) }], []);
    }
    if (database.hasBackup) this.addBackup();
    if (database.operated !== undefined) this.addOperated(database.operated);
    if (hasScheduler) this.add('scheduler', [], []);
  }

  private addController(): void {
    const { hasFluxion, hasMiniClusters } = this.props;
    const ports = [METRICS_PORT, ...(hasFluxion ? [FLUXION_METRICS_PORT] : [])];
    // MiniClusters are in any namespace.
    const reports = hasMiniClusters ? [{ ports: tcp(REPORT_PORT) }] : [];
    this.add('controller', [...reports, ...this.monitoring(...ports)], this.toDatabase());
  }

  /** The database of the stack may be a name outside of it. */
  private toDatabase(): k8s.NetworkPolicyEgressRule[] {
    const { database } = this.props;
    const server = database.isDeployed ? pods('database') : operatedPods(database.operated);
    return [DNS, { ...(server === undefined ? {} : { to: [server] }), ports: tcp(database.port) }];
  }

  private databaseClients(): k8s.NetworkPolicyPeer[] {
    return [pods('controller'), ...(this.props.hasReader ? [pods('reader')] : [])];
  }

  /** Dumps need no apiserver. */
  private addBackup(): void {
    const { port: database, backupPort } = this.props.database;
    new KubeObject(this, 'backup', k8s.KubeNetworkPolicy, {
      metadata: this.metadata('backup', 'backup'),
      spec: {
        podSelector: { matchLabels: selectorLabels('backup') },
        policyTypes: ['Ingress', 'Egress'],
        egress: [
          DNS,
          { to: [pods('database')], ports: tcp(database) },
          ...(backupPort === undefined ? [] : [{ ports: tcp(backupPort) }]),
        ],
      },
    });
  }

  /** Pods that an operator makes: clients, the operator and the other instances reach them, and they reach the apiserver. */
  private addOperated(operated: NonNullable<Database['operated']>): void {
    const { database, apiserverPorts = APISERVER_PORTS, monitoringNamespace } = this.props;
    const own = { podSelector: { matchLabels: operated.labels } };
    const operator = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operated.operatorNamespace } },
    };
    const among = tcp(database.port, operated.statusPort);
    new KubeObject(this, 'operated-database', k8s.KubeNetworkPolicy, {
      metadata: this.metadata('database', 'database'),
      spec: {
        podSelector: own.podSelector,
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          { from: this.databaseClients(), ports: tcp(database.port) },
          { from: [own, operator], ports: among },
          ...(monitoringNamespace === undefined ? [] : this.monitoring(operated.metricsPort)),
        ],
        egress: [{ ports: tcp(...apiserverPorts) }, DNS, { to: [own], ports: among }],
      },
    });
  }

  /** Adds the policy of one component. All components call the apiserver; its address is not known and may be outside the cluster. */
  private add(
    component: Component,
    ingress: k8s.NetworkPolicyIngressRule[],
    egress: k8s.NetworkPolicyEgressRule[],
  ): void {
    const { apiserverPorts = APISERVER_PORTS } = this.props;
    new KubeObject(this, component, k8s.KubeNetworkPolicy, {
      metadata: this.metadata(component, component),
      spec: {
        podSelector: { matchLabels: selectorLabels(component) },
        policyTypes: ['Ingress', 'Egress'],
        // The apiserver drops an empty list, and a GitOps tool would apply it again and again.
        ...(ingress.length === 0 ? {} : { ingress }),
        egress: [{ ports: tcp(...apiserverPorts) }, ...egress],
      },
    });
  }

  private fromApiserver(port: number): k8s.NetworkPolicyIngressRule[] {
    const from = this.props.apiserverCidrs?.map((cidr) => ({ ipBlock: { cidr } }));
    return [{ ...(from === undefined ? {} : { from }), ports: tcp(port) }, ...this.monitoring(METRICS_PORT)];
  }

  private monitoring(...ports: number[]): k8s.NetworkPolicyIngressRule[] {
    const { monitoringNamespace } = this.props;
    if (monitoringNamespace === undefined) return [];
    const matchLabels = { 'kubernetes.io/metadata.name': monitoringNamespace };
    return [{ from: [{ namespaceSelector: { matchLabels } }], ports: tcp(...ports) }];
  }

  private metadata(name: string, component: Component): k8s.ObjectMeta {
    const { namespace } = this.props;
    return objectMetadata({ name: `fluxqueue-${name}`, namespace, component, wave: Wave.RIGHTS });
  }
}

/** A DNS server may be a pod of any namespace or an address of the node. */
const DNS: k8s.NetworkPolicyEgressRule = { ports: [port(53, 'UDP'), port(53, 'TCP')] };

function operatedPods(operated: Database['operated']): k8s.NetworkPolicyPeer | undefined {
  return operated === undefined ? undefined : { podSelector: { matchLabels: operated.labels } };
}

function pods(component: Component): k8s.NetworkPolicyPeer {
  return { podSelector: { matchLabels: selectorLabels(component) } };
}

function port(number: number, protocol: 'TCP' | 'UDP'): k8s.NetworkPolicyPort {
  return { port: k8s.IntOrString.fromNumber(number), protocol };
}

function tcp(...numbers: readonly number[]): k8s.NetworkPolicyPort[] {
  return numbers.map((number) => port(number, 'TCP'));
}
