/** Alerts that a person should see, in the terms of Prometheus. Each expression names metrics of the runtime only (docs/metrics.md). */
import { forcedEnd } from '../api/lingering';

export interface Alert {
  readonly alert: string;
  /** PromQL. */
  readonly expr: string;
  /** How long the expression has to hold. */
  readonly for: string;
  /** `critical`: nothing starts, or soon nothing can be submitted. `warning`: it still works, but not as it should. */
  readonly severity: 'critical' | 'warning';
  /** What is wrong, and what to do; may name labels of the expression. */
  readonly summary: string;
}

const quantile = (share: number, metric: string): string =>
  `histogram_quantile(${share}, sum by (le) (rate(${metric}_bucket[5m])))`;

const DATABASE_BYTES = 'sum(max by (table) (fluxqueue_database_bytes))';

export const ALERTS: readonly Alert[] = [
  {
    alert: 'FluxqueueNoLeader',
    expr: 'max(fluxqueue_leader) != 1 or absent(fluxqueue_leader)',
    for: '2m',
    severity: 'critical',
    summary: 'No controller leads: no Job starts. Read the logs of fluxqueue-controller.',
  },
  {
    // A pass runs every 30 seconds also when nothing changes, and only complete ones are counted.
    alert: 'FluxqueueNoPass',
    expr: 'max(fluxqueue_leader) == 1 unless on () sum(rate(fluxqueue_pass_seconds_count[5m])) > 0',
    for: '5m',
    severity: 'critical',
    summary:
      'A controller leads, but completes no scheduling pass: no Job starts. Its logs say why; see that database and Fluxion answer.',
  },
  {
    alert: 'FluxqueueSlowPasses',
    expr: `${quantile(0.99, 'fluxqueue_pass_seconds')} > 3`,
    for: '15m',
    severity: 'warning',
    summary:
      'Scheduling passes take more than 3 s. The dashboard shows which phase; give the controller more CPU, or lower the depth of its queues.',
  },
  {
    alert: 'FluxqueueStartableWaits',
    expr: 'max(fluxqueue_startable_workloads) > 0',
    for: '5m',
    severity: 'warning',
    summary:
      'Workloads wait although nodes, quota and limits have room for them. The logs of fluxqueue-controller name them: please report it. Delete the pod of the leader: another replica plans anew, nothing is lost.',
  },
  {
    alert: 'FluxqueueFluxionFails',
    expr: 'sum by (call) (rate(fluxqueue_fluxion_seconds_count{result="failed"}[5m])) > 0',
    for: '10m',
    severity: 'critical',
    summary:
      'Calls to Fluxion fail ({{ $labels.call }}): no Job starts. Read the logs of fluxqueue-controller.',
  },
  {
    alert: 'FluxqueueDatabaseFails',
    expr: 'sum by (operation) (rate(fluxqueue_database_seconds_count{result="failed"}[5m])) > 0',
    for: '10m',
    severity: 'critical',
    summary:
      'Operations on the database fail ({{ $labels.operation }}). See that it runs, has space left, and knows the password; see docs/recovery.md.',
  },
  {
    alert: 'FluxqueueDatabaseSlow',
    expr: `${quantile(0.99, 'fluxqueue_database_seconds')} > 1`,
    for: '15m',
    severity: 'warning',
    summary: 'Operations on the database take more than 1 s. See its CPU, disk and connections.',
  },
  {
    // The volume also holds the log of Postgres, and space that deleted rows leave.
    alert: 'FluxqueueDatabaseFills',
    expr: `predict_linear(${DATABASE_BYTES}[6h:10m], 7 * 86400) > on () max(fluxqueue_database_volume_bytes > 0) * 0.8`,
    for: '1h',
    severity: 'warning',
    summary:
      'As it grows now, the database fills four fifths of its volume within a week. Lower recordsPerHour or retention, or enlarge the volume; see docs/operations.md.',
  },
  {
    alert: 'FluxqueueDatabaseFull',
    expr: `${DATABASE_BYTES} > on () max(fluxqueue_database_volume_bytes > 0) * 0.8`,
    for: '10m',
    severity: 'critical',
    summary:
      'The database fills four fifths of its volume; when it is full, nothing starts. Enlarge the volume; see docs/operations.md.',
  },
  {
    alert: 'FluxqueueForbidden',
    expr: 'sum by (verb, resource) (increase(fluxqueue_kubernetes_requests_total{status=~"401|403"}[15m])) > 10',
    for: '5m',
    severity: 'warning',
    summary:
      'The apiserver forbids requests of the runtime ({{ $labels.verb }} {{ $labels.resource }}). Apply the whole stack of one version, with its roles.',
  },
  {
    alert: 'FluxqueueWatchesFail',
    expr: 'sum by (resource) (increase(fluxqueue_watch_ends_total{end="failed"}[15m])) > 10',
    for: '5m',
    severity: 'warning',
    summary:
      'Watches of {{ $labels.resource }} end again and again, so that the queue learns late of changes. See the load of the apiserver.',
  },
  {
    alert: 'FluxqueueWorkQueueStands',
    expr: 'max by (pod, queue) (fluxqueue_work_queue_depth) > 0 unless sum by (pod, queue) (rate(fluxqueue_work_queue_runs_total[10m])) > 0',
    for: '10m',
    severity: 'critical',
    summary:
      'Work queue {{ $labels.queue }} of {{ $labels.pod }} has work and does none. Delete this pod: another replica takes over, nothing is lost.',
  },
  {
    alert: 'FluxqueueFluxJobsBehind',
    expr: `${quantile(0.99, 'fluxqueue_fluxjob_lag_seconds')} > 60`,
    for: '15m',
    severity: 'warning',
    summary:
      'FluxJobs show changes more than a minute late; Jobs start as usual. See the latency of the apiserver.',
  },
  {
    alert: 'FluxqueueRepairs',
    expr: 'sum by (kind) (increase(fluxqueue_repairs_total{kind=~"fluxion-differs|release-unfounded"}[1h])) > 10',
    for: '10m',
    severity: 'warning',
    summary: 'Database and cluster differ again and again ({{ $labels.kind }}); see docs/recovery.md.',
  },
  {
    alert: 'FluxqueuePodLingers',
    expr: 'max by (pod_namespace, pod_name, node) (fluxqueue_lingering_pods{pod_name!=""}) > 0',
    for: '5m',
    severity: 'warning',
    summary: `Pod {{ $labels.pod_name }} does not end and holds units of {{ $labels.node }}. If ${forcedEnd('{{ $labels.pod_namespace }}', '{{ $labels.pod_name }}')}`,
  },
  {
    // The highest bucket ends at 0.25 s; the apiserver waits for 10 s at most.
    alert: 'FluxqueueSlowAdmission',
    expr: `${quantile(0.99, 'fluxqueue_admission_seconds')} > 0.2`,
    for: '10m',
    severity: 'warning',
    summary: 'The webhook takes more than 0.2 s to answer. Give it more replicas or CPU.',
  },
  {
    alert: 'FluxqueueCertificateExpires',
    expr: 'min(fluxqueue_webhook_certificate_expiry_seconds) - time() < 86400',
    for: '1h',
    severity: 'critical',
    summary:
      'The certificate of the webhook expires within a day; then Jobs of enabled namespaces are refused.',
  },
  {
    // Before it has a certificate the metric is 0.
    alert: 'FluxqueueNoReader',
    expr: 'absent(fluxqueue_reader_certificate_expiry_seconds > 0)',
    for: '10m',
    severity: 'warning',
    summary:
      'Nobody serves the read API: questions have no answer, and namespaces that are deleted stay. Jobs start as usual. Read the logs of fluxqueue-reader.',
  },
  {
    alert: 'FluxqueueReaderCertificateExpires',
    expr: 'min(fluxqueue_reader_certificate_expiry_seconds > 0) - time() < 604800',
    for: '1h',
    severity: 'warning',
    summary:
      'The certificate of the reader expires within a week; then questions have no answer, and namespaces that are deleted stay. The logs of fluxqueue-reader say why it is not renewed.',
  },
];

/** The component that an alert is about, of those that not every stack has. @returns undefined if it is of every stack */
export function optionalComponentOf({ expr }: Alert): 'webhook' | 'reader' | undefined {
  if (/fluxqueue_(webhook|admission)_/.test(expr)) return 'webhook';
  return expr.includes('fluxqueue_reader_') ? 'reader' : undefined;
}
