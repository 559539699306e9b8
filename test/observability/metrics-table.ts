/** Writes docs/metrics.md from the metrics: `npm run generate:metrics`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { ALERTS, optionalComponentOf } from '../../constructs/fluxqueue/alerts';
import {
  controllerMetrics,
  leaderPendingGauge,
  readerMetrics,
  standbyWarmGauge,
  webhookMetrics,
} from '../../runtime/observability/metrics';

const TABLE_FILE = join(__dirname, '../../docs/metrics.md');

/** What prom-client knows of a metric beyond its public type. */
interface Known {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

export function controllerRegistry(): Registry {
  const registry = new Registry();
  controllerMetrics(registry);
  leaderPendingGauge(registry, () => false);
  standbyWarmGauge(registry, () => false);
  return registry;
}

export function webhookRegistry(): Registry {
  const registry = new Registry();
  webhookMetrics(registry);
  return registry;
}

export function readerRegistry(): Registry {
  const registry = new Registry();
  readerMetrics(registry);
  return registry;
}

export function metricsOf(registry: Registry): readonly Known[] {
  const known = registry.getMetricsAsArray() as unknown as readonly Known[];
  return known.map(({ name, help, type, labelNames = [] }) => ({ name, help, type, labelNames }));
}

function rows(registry: Registry): string {
  const lines = metricsOf(registry).map(
    ({ name, help, type, labelNames = [] }) =>
      `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  );
  return ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** Vertical bars end a cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

function alertRows(): string {
  const lines = ALERTS.map((alert) => {
    const cells = [
      `\`${alert.alert}\``,
      alert.severity,
      alert.for,
      cell(alert.summary),
      `\`${cell(alert.expr)}\``,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| alert | severity | after | what it says | expression |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

/** The text of docs/metrics.md. */
export function table(): string {
  return `# Metrics

\`npm run generate:metrics\` writes this file from runtime/observability/metrics.ts. Names follow the conventions of Prometheus: base units, \`_total\` for
counters. No label has a value that users choose freely: there are as many \`queue\`s as FluxSetups, and reasons, phases, causes and results are fixed.
Beside these, every process has the metrics of its Node.js (\`process_\`, \`nodejs_\`).

Metrics listen on loopback unless \`monitoringNamespace\` opens them ([decision 29](decisions/0029-metrics.md)). \`monitoring: {}\` adds a PodMonitor, alerts,
and a dashboard of Grafana in a ConfigMap ([the construct](construct.md)).

## Controller

Port 9464 of \`fluxqueue-controller\`. The leader schedules; of another replica only \`fluxqueue_leader\`, \`fluxqueue_leader_pending\`,
\`fluxqueue_standby_warm\` and what it asks of others change.

${rows(controllerRegistry())}

## Webhook

Port 9464 of \`fluxqueue-webhook\`.

${rows(webhookRegistry())}

## Reader

Port 9464 of \`fluxqueue-reader\`. \`resource\` is a resource of the read API, \`discovery\` or \`other\`.

${rows(readerRegistry())}

## Alerts

\`monitoring: {}\` adds them as a PrometheusRule, ${alertsOf('webhook')} where there is a webhook, ${alertsOf('reader')}
where there is a read API. test/monitoring/alerts.test.ts has
promtool run each of them on samples in which it has to fire, and on samples in which it must not.

${alertRows()}
`;
}

function alertsOf(component: 'webhook' | 'reader'): string {
  const alerts = ALERTS.filter((alert) => optionalComponentOf(alert) === component);
  return alerts.map(({ alert }) => `\`${alert}\``).join(' and ');
}

export function writtenTable(): string {
  return readFileSync(TABLE_FILE, 'utf8');
}

if (require.main === module) writeFileSync(TABLE_FILE, table());
