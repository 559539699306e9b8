/**
 * A dashboard of Grafana as JSON, in a ConfigMap that Grafana's sidecar finds by a label. Its queries name metrics of the runtime only
 * (docs/metrics.md), and the data source is chosen in Grafana.
 */
type Unit = 's' | 'short' | 'reqps' | 'bytes' | 'none';

interface Query {
  /** PromQL. */
  readonly expr: string;
  /** Text of the legend, with `{{label}}` for the value of a label. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** What the panel is for, shown on its corner. */
  readonly about: string;
  readonly unit: Unit;
  /** `stat`: one number. */
  readonly type: 'stat' | 'timeseries';
  readonly queries: readonly Query[];
}

interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Rates are over this time. */
const RATE = '5m';

const graph = (title: string, about: string, unit: Unit, ...queries: readonly Query[]): Panel => ({
  title,
  about,
  unit,
  type: 'timeseries',
  queries,
});
const number = (title: string, about: string, unit: Unit, expr: string): Panel => ({
  title,
  about,
  unit,
  type: 'stat',
  queries: [{ expr, legend: title }],
});
const rate = (metric: string, by: string): Query => ({
  expr: `sum by (${by}) (rate(${metric}[${RATE}]))`,
  legend: by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' '),
});
const total = (metric: string, legend: string): Query => ({ expr: `sum(rate(${metric}[${RATE}]))`, legend });
const quantiles = (metric: string, ...shares: readonly number[]): readonly Query[] =>
  shares.map((share) => ({
    expr: `histogram_quantile(${share}, sum by (le) (rate(${metric}_bucket[${RATE}])))`,
    legend: `p${share * 100}`,
  }));
const slowest = (metric: string, by: string): Query => ({
  expr: `histogram_quantile(0.99, sum by (le, ${by}) (rate(${metric}_bucket[${RATE}])))`,
  legend: `{{${by}}}`,
});
const states = (resource: string): Query => ({
  expr: `sum by (state) (fluxqueue_resource{resource="${resource}"})`,
  legend: '{{state}}',
});

export const SECTIONS: readonly Section[] = [
  {
    title: 'Now',
    panels: [
      number(
        'Waiting',
        'Workloads that wait for nodes.',
        'short',
        'sum(fluxqueue_workloads{phase="Waiting"})',
      ),
      number(
        'Running',
        'Workloads with a running pod.',
        'short',
        'sum(fluxqueue_workloads{phase="Running"})',
      ),
      number('Oldest wait', 'Of all waiting workloads.', 's', 'max(fluxqueue_oldest_wait_seconds)'),
      number(
        'Leaders',
        'One controller schedules; 0 means that nothing starts.',
        'none',
        'sum(fluxqueue_leader)',
      ),
    ],
  },
  {
    title: 'Queues',
    panels: [
      graph('Waiting by reason', 'As FluxJobs show it.', 'short', {
        expr: 'sum by (queue, reason) (fluxqueue_waiting_workloads)',
        legend: '{{queue}} {{reason}}',
      }),
      graph('Oldest wait', 'The oldest waiting workload of each queue.', 's', {
        expr: 'max by (queue) (fluxqueue_oldest_wait_seconds)',
        legend: '{{queue}}',
      }),
      graph('Wait', 'From submission to grant.', 's', ...quantiles('fluxqueue_wait_seconds', 0.5, 0.9, 0.99)),
      graph(
        'Error of promised starts',
        'Between the last promised start and the grant.',
        's',
        ...quantiles('fluxqueue_estimate_error_seconds', 0.5, 0.9),
      ),
      graph(
        'Grants',
        'All, and those before a workload that waited longer.',
        'reqps',
        total('fluxqueue_grants_total', 'granted'),
        total('fluxqueue_backfilled_total', 'backfilled'),
      ),
      graph(
        'Requeues',
        'Grants that ended before their workloads.',
        'reqps',
        rate('fluxqueue_requeues_total', 'cause'),
        total('fluxqueue_invalid_workloads_total', 'invalid'),
      ),
    ],
  },
  {
    title: 'Resources',
    panels: [
      graph('Cores', 'Of the nodes.', 'short', states('cpu')),
      graph('Memory', 'Of the nodes.', 'bytes', states('memory')),
      graph('GPUs', 'Of the nodes.', 'short', states('gpu')),
      graph('Cores by queue', 'What the workloads of each queue hold.', 'short', {
        expr: 'sum by (queue) (fluxqueue_queue_held{resource="cpu"})',
        legend: '{{queue}}',
      }),
    ],
  },
  {
    title: 'Scheduler',
    panels: [
      graph('Pass', 'Duration of a scheduling pass.', 's', ...quantiles('fluxqueue_pass_seconds', 0.5, 0.99)),
      graph(
        'Pass by phase',
        'Share of the time in each phase.',
        's',
        rate('fluxqueue_pass_phase_seconds_total', 'phase'),
      ),
      graph(
        'Calls to Fluxion',
        'Matches by their answer, and other calls.',
        'reqps',
        rate('fluxqueue_fluxion_seconds_count', 'call, result'),
      ),
      graph('Slow calls to Fluxion', 'p99 of each call.', 's', slowest('fluxqueue_fluxion_seconds', 'call')),
      graph(
        'Promised starts',
        'Workloads with a promised start, those that wait although they have room, and rebuilds of the graph.',
        'short',
        { expr: 'sum(fluxqueue_reservations)', legend: 'promised' },
        { expr: 'max(fluxqueue_startable_workloads)', legend: 'wait with room' },
        {
          expr: `sum by (cause) (increase(fluxqueue_fluxion_rebuilds_total[${RATE}]))`,
          legend: 'rebuilt: {{cause}}',
        },
      ),
      graph(
        'FluxJobs behind',
        'From a change to the write that shows it.',
        's',
        ...quantiles('fluxqueue_fluxjob_lag_seconds', 0.5, 0.99),
      ),
      graph(
        'Successes without a FluxJob',
        'Workloads that succeeded soon in a burst of their namespace.',
        'reqps',
        { expr: `sum(rate(fluxqueue_unrecorded_workloads_total[${RATE}]))`, legend: 'without a FluxJob' },
      ),
    ],
  },
  {
    title: 'Control plane and database',
    panels: [
      graph(
        'Requests to the apiserver',
        'By verb and status.',
        'reqps',
        rate('fluxqueue_kubernetes_requests_total', 'verb, status'),
      ),
      graph('Admission', 'p99 of the webhook.', 's', slowest('fluxqueue_admission_seconds', 'kind')),
      graph(
        'Slow operations on the tables',
        'p99 by operation.',
        's',
        slowest('fluxqueue_database_seconds', 'operation'),
      ),
      graph(
        'Size of the tables',
        'With indexes.',
        'bytes',
        { expr: 'max by (table) (fluxqueue_database_bytes)', legend: '{{table}}' },
        { expr: 'max(fluxqueue_database_volume_bytes > 0)', legend: 'volume' },
      ),
      graph(
        'Work queues',
        'Keys that wait, and runs that failed.',
        'short',
        {
          expr: 'sum by (queue) (fluxqueue_work_queue_depth)',
          legend: '{{queue}}',
        },
        {
          expr: `sum by (queue) (increase(fluxqueue_work_queue_runs_total{outcome="failed"}[${RATE}]))`,
          legend: '{{queue}} failed',
        },
      ),
      graph('Pods that do not end', 'They hold units beyond their grace period.', 'short', {
        expr: 'max by (pod_namespace, pod_name) (fluxqueue_lingering_pods)',
        legend: '{{pod_namespace}}/{{pod_name}}',
      }),
      graph(
        'Repairs and broken watches',
        'Differences that were repaired, and watches that did not end as usual.',
        'short',
        { expr: `sum by (kind) (increase(fluxqueue_repairs_total[${RATE}]))`, legend: '{{kind}}' },
        {
          expr: `sum by (resource, end) (increase(fluxqueue_watch_ends_total{end!="closed"}[${RATE}]))`,
          legend: '{{resource}} {{end}}',
        },
      ),
    ],
  },
];

/** Labels by which the sidecar of Grafana finds the ConfigMap. */
export const DASHBOARD_LABELS = { grafana_dashboard: '1' };

/** In the names of the webhook's metrics. */
const ADMISSION = 'fluxqueue_admission_';

/** The variable of the dashboard, as Grafana writes it. */
const DATA_SOURCE = { type: 'prometheus', uid: '$datasource' };
const WIDTH = 24;

/** @param hasWebhook without it there are no panels of admission */
export function dashboardJson({ hasWebhook }: { readonly hasWebhook: boolean }): string {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: every } of SECTIONS) {
    const all = every.filter(
      ({ queries }) => hasWebhook || !queries.some(({ expr }) => expr.includes(ADMISSION)),
    );
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    });
    y += 1;
    const inRow = all[0]?.type === 'stat' ? all.length : 2;
    const [w, h] = [WIDTH / inRow, all[0]?.type === 'stat' ? 4 : 8];
    all.forEach((panel, i) => {
      const gridPos = { x: (i % inRow) * w, y: y + Math.floor(i / inRow) * h, w, h };
      panels.push(panelJson(panel, panels.length + 1, gridPos));
    });
    y += Math.ceil(all.length / inRow) * h;
  }
  return `${JSON.stringify({ ...DASHBOARD, panels }, null, 1)}\n`;
}

const DASHBOARD = {
  uid: 'fluxqueue',
  title: 'fluxqueue',
  tags: ['fluxqueue'],
  schemaVersion: 39,
  editable: false,
  time: { from: 'now-6h', to: 'now' },
  refresh: '30s',
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
    ],
  },
};

function panelJson({ title, about, unit, type, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type,
    title,
    description: about,
    gridPos,
    datasource: DATA_SOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      type === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] } }
        : { legend: { displayMode: 'list', placement: 'bottom' } },
    targets: queries.map(({ expr, legend }, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
      ...(type === 'stat' ? { instant: true } : {}),
    })),
  };
}
