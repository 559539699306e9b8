/**
 * Objects for other operators: a PodMonitor and alerts for the Prometheus Operator, recommendations by the Vertical Pod Autoscaler.
 * Names and fields are those of monitoring.coreos.com/v1 and autoscaling.k8s.io/v1; test/constructs/fluxqueue/operators has the parts
 * that are used.
 */
import { ApiObject, type Duration } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { PropsError } from '../api/errors';
import { KubeObject } from '../kube-object';
import { type Component, type ComponentProps, objectMetadata, selectorLabels, Wave } from '../metadata';
import { ALERTS, optionalComponentOf } from './alerts';
import { DASHBOARD_LABELS, dashboardJson } from './dashboard';

export interface MonitoringProps {
  /** Whether a PodMonitor makes Prometheus read the metrics of all components. @default true */
  readonly podMonitor?: boolean;
  /** Time between two readings, in whole seconds. @default - that of Prometheus */
  readonly interval?: Duration;
  /** Whether a PrometheusRule has the alerts of docs/metrics.md. @default true */
  readonly alerts?: boolean;
  /** Whether a ConfigMap has a dashboard of Grafana, whose sidecar finds it by the label `grafana_dashboard`. @default true */
  readonly dashboard?: boolean;
  /** Further labels of PodMonitor and PrometheusRule, by which Prometheus finds them, e.g. `{ release: 'kube-prometheus-stack' }`. @default - none */
  readonly labels?: Readonly<Record<string, string>>;
}

/** @throws PropsError for an interval that Prometheus cannot have */
export function checkInterval({ interval }: MonitoringProps): void {
  const seconds = (interval?.toMilliseconds() ?? 1000) / 1000;
  if (Number.isInteger(seconds) && seconds >= 1) return;
  throw new PropsError(
    'FluxQueue.monitoring.interval',
    'must be a whole number of seconds, 1 or more',
    `${seconds} s`,
    'give Duration.seconds(…)',
  );
}

interface Props extends MonitoringProps, ComponentProps {
  readonly hasWebhook: boolean;
  readonly hasReader: boolean;
  readonly hasFluxion: boolean;
}

export class Monitoring extends Construct {
  constructor(
    scope: Construct,
    id: string,
    private readonly props: Props,
  ) {
    super(scope, id);
    if (props.podMonitor !== false) this.addPodMonitor();
    if (props.alerts !== false) this.addAlerts();
    if (props.dashboard !== false) this.addDashboard();
  }

  private addDashboard(): void {
    const { namespace } = this.props;
    const metadata = { name: 'fluxqueue-dashboard', namespace, component: 'controller' } as const;
    new KubeObject(this, 'dashboard', k8s.KubeConfigMap, {
      metadata: objectMetadata({ ...metadata, wave: Wave.RUNTIME, labels: DASHBOARD_LABELS }),
      data: { 'fluxqueue.json': dashboardJson(this.props) },
    });
  }

  private addPodMonitor(): void {
    const { interval, hasFluxion } = this.props;
    const timing = interval === undefined ? {} : { interval: `${interval.toSeconds()}s` };
    const ports = ['metrics', ...(hasFluxion ? ['fluxion-metrics'] : [])];
    const { 'app.kubernetes.io/component': _, ...stack } = selectorLabels('controller');
    this.add('PodMonitor', {
      selector: { matchLabels: stack },
      podMetricsEndpoints: ports.map((port) => ({ port, ...timing })),
    });
  }

  private addAlerts(): void {
    const { hasWebhook, hasReader } = this.props;
    const has = { webhook: hasWebhook, reader: hasReader };
    const alerts = ALERTS.filter((each) => {
      const component = optionalComponentOf(each);
      return component === undefined || has[component];
    });
    const rules = alerts.map(({ alert, expr, for: time, severity, summary }) => ({
      alert,
      expr,
      for: time,
      labels: { severity },
      annotations: { summary },
    }));
    this.add('PrometheusRule', { groups: [{ name: 'fluxqueue', rules }] });
  }

  private add(kind: string, spec: object): void {
    const { namespace, labels = {} } = this.props;
    new ApiObject(this, kind, {
      apiVersion: 'monitoring.coreos.com/v1',
      kind,
      metadata: objectMetadata({
        name: 'fluxqueue',
        namespace,
        component: 'controller',
        wave: Wave.RUNTIME,
        labels,
      }),
      spec,
    });
  }
}

/** Recommendations for the requests of the pods (`kubectl describe vpa`). Nothing is changed: a restart is worth a decision. */
export class PodRecommendations extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { namespace, components }: ComponentProps & { readonly components: readonly Component[] },
  ) {
    super(scope, id);
    for (const component of components) {
      const name = `fluxqueue-${component}`;
      const kind = component === 'database' ? 'StatefulSet' : 'Deployment';
      new ApiObject(this, component, {
        apiVersion: 'autoscaling.k8s.io/v1',
        kind: 'VerticalPodAutoscaler',
        metadata: objectMetadata({ name, namespace, component, wave: Wave.RUNTIME }),
        spec: { targetRef: { apiVersion: 'apps/v1', kind, name }, updatePolicy: { updateMode: 'Off' } },
      });
    }
  }
}
