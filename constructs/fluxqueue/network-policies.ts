/**
 * NetworkPolicies of the stack's namespace: everything is denied, then each component gets the paths that it has.
 * docs/network.md lists them; test/constructs/fluxqueue/network-policies.test.ts compares that table with these objects and
 * with the ports of the manifests.
 */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { KubeObject } from '../kube-object';
import { type Component, type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { METRICS_PORT } from './controller';
import type { Database } from './database';
import { FLUXION_METRICS_PORT } from './fluxion';
import { WEBHOOK_PORT } from './webhook';

export interface NetworkPoliciesProps extends ComponentProps {
  readonly database: Database;
  readonly hasWebhook: boolean;
  readonly hasScheduler: boolean;
  readonly hasFluxion: boolean;
  readonly monitoringNamespace?: string;
  readonly apiserverPorts?: readonly number[];
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
    const { database, hasWebhook, hasScheduler } = props;
    new KubeObject(this, 'default', k8s.KubeNetworkPolicy, {
      metadata: this.metadata('default-deny', 'base'),
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
    });
    this.addController();
    if (hasWebhook) {
      this.add('webhook', [{ ports: tcp(WEBHOOK_PORT) }, ...this.monitoring(METRICS_PORT)], []);
    }
    if (database.isDeployed) {
      this.add('database', [{ from: [pods('controller')], ports: tcp(database.port) }], []);
    }
    if (hasScheduler) this.add('scheduler', [], []);
  }

  private addController(): void {
    const { database, hasFluxion } = this.props;
    const ports = [METRICS_PORT, ...(hasFluxion ? [FLUXION_METRICS_PORT] : [])];
    this.add('controller', this.monitoring(...ports), [
      // A DNS server may be a pod of any namespace or an address of the node.
      { ports: [port(53, 'UDP'), port(53, 'TCP')] },
      { ...(database.isDeployed ? { to: [pods('database')] } : {}), ports: tcp(database.port) },
    ]);
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

function pods(component: Component): k8s.NetworkPolicyPeer {
  return { podSelector: { matchLabels: selectorLabels(component) } };
}

function port(number: number, protocol: 'TCP' | 'UDP'): k8s.NetworkPolicyPort {
  return { port: k8s.IntOrString.fromNumber(number), protocol };
}

function tcp(...numbers: readonly number[]): k8s.NetworkPolicyPort[] {
  return numbers.map((number) => port(number, 'TCP'));
}
