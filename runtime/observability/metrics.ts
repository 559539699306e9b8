/** All metrics of the runtime: docs/metrics.md is made of them. Their names are fluxqueue_<subject>_<unit>. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

/** Seconds of one request to a server nearby. */
const REQUEST_BUCKETS = [0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
/** Seconds of a wait of a user. */
const WAIT_BUCKETS = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];

export function controllerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    ...workloadMetrics(registers),
    ...passMetrics(registers),
    ...dependencyMetrics(registers),
    leader: new Gauge({ name: 'fluxqueue_leader', help: '1 while this replica leads.', registers }),
    repairs: new Counter({
      name: 'fluxqueue_repairs_total',
      help: 'Differences between the tables, the apiserver and Fluxion that were found and repaired, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    queueDepths: queueDepths(registers),
    queueRuns: new Counter({
      name: 'fluxqueue_work_queue_runs_total',
      help: 'Reconciled keys by work queue and outcome: done, again, failed, dropped.',
      labelNames: ['queue', 'outcome'],
      registers,
    }),
    fluxJobLag: new Histogram({
      name: 'fluxqueue_fluxjob_lag_seconds',
      help: 'From a change of a workload to the write of its FluxJob that shows it.',
      buckets: [0.1, 0.3, 1, 3, 10, 30, 100],
      registers,
    }),
    unrecorded: new Counter({
      name: 'fluxqueue_unrecorded_workloads_total',
      help: 'Workloads that succeeded soon in a burst of their namespace, and have no FluxJob.',
      registers,
    }),
  };
}

/**
 * How many keys wait, by the name of their work queue: asked whenever the metrics are read, so that a queue whose runs never end shows
 * that it grows.
 */
function queueDepths(registers: Registry[]): Map<string, () => number> {
  const depths = new Map<string, () => number>();
  new Gauge({
    name: 'fluxqueue_work_queue_depth',
    help: 'Keys that wait to be reconciled, by work queue.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, depth] of depths) this.set({ queue }, depth());
    },
  });
  return depths;
}

/** What users wait for. Gauges have a value on the leader only. */
function workloadMetrics(registers: Registry[]) {
  return {
    workloads: new Gauge({
      name: 'fluxqueue_workloads',
      help: 'Workloads that are not finished, by phase.',
      labelNames: ['phase'],
      registers,
    }),
    waiting: new Gauge({
      name: 'fluxqueue_waiting_workloads',
      help: 'Waiting workloads by queue and reason, as their FluxJobs show it.',
      labelNames: ['queue', 'reason'],
      registers,
    }),
    oldestWait: new Gauge({
      name: 'fluxqueue_oldest_wait_seconds',
      help: 'How long the oldest waiting workload of each queue has waited.',
      labelNames: ['queue'],
      registers,
    }),
    resource: new Gauge({
      name: 'fluxqueue_resource',
      help: 'Resources of the nodes by state: allocatable, granted to workloads, used by pods outside the queue.',
      labelNames: ['resource', 'unit', 'state'],
      registers,
    }),
    held: new Gauge({
      name: 'fluxqueue_queue_held',
      help: 'Resources that the workloads of each queue hold.',
      labelNames: ['queue', 'resource', 'unit'],
      registers,
    }),
    waitSeconds: new Histogram({
      name: 'fluxqueue_wait_seconds',
      help: 'From submission to grant.',
      buckets: WAIT_BUCKETS,
      registers,
    }),
    estimateError: new Histogram({
      name: 'fluxqueue_estimate_error_seconds',
      help: 'Between the start that a workload was promised last and its grant, of those with a promise.',
      buckets: [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000],
      registers,
    }),
    requeues: new Counter({
      name: 'fluxqueue_requeues_total',
      help: 'Grants that ended before their workload did, by cause: failure (of the workload), cluster, preempted (also to give quota back), suspended.',
      labelNames: ['cause'],
      registers,
    }),
    invalidWorkloads: new Counter({
      name: 'fluxqueue_invalid_workloads_total',
      help: 'Times a workload was found to be invalid or to exceed the budget of one workload, by stage: intake or matching.',
      labelNames: ['stage'],
      registers,
    }),
  };
}

function passMetrics(registers: Registry[]) {
  return {
    lingeringPods: new Gauge({
      name: 'fluxqueue_lingering_pods',
      help: 'Pods that hold granted units and do not end: 5 minutes beyond their grace period, or deleted with one of more than an hour that they do not ask for; the first 20.',
      // Prometheus gives `namespace` and `pod` of the process that it asks to each series.
      labelNames: ['pod_namespace', 'pod_name', 'node'],
      registers,
    }),
    passSeconds: new Histogram({
      name: 'fluxqueue_pass_seconds',
      help: 'Duration of a scheduling pass, matching and commit included.',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
      registers,
    }),
    passPhaseSeconds: new Counter({
      name: 'fluxqueue_pass_phase_seconds_total',
      help: 'Time that scheduling passes spent in each of their phases.',
      labelNames: ['phase'],
      registers,
    }),
    grants: new Counter({ name: 'fluxqueue_grants_total', help: 'Allocations granted.', registers }),
    backfilled: new Counter({
      name: 'fluxqueue_backfilled_total',
      help: 'Allocations granted while a workload before them in line had to wait.',
      registers,
    }),
    reservations: new Gauge({
      name: 'fluxqueue_reservations',
      help: 'Workloads with a promised start and nodes.',
      registers,
    }),
    startable: new Gauge({
      name: 'fluxqueue_startable_workloads',
      help: 'Waiting workloads that nodes, quota and limits have room for beside all that runs and is promised, in two looks in a row: 0 unless scheduling is at fault.',
      registers,
    }),
    rebuilds: new Counter({
      name: 'fluxqueue_fluxion_rebuilds_total',
      help: 'Times the graph was initialised and the allocations replayed, by cause.',
      labelNames: ['cause'],
      registers,
    }),
  };
}

/** What the runtime asks of others. */
function dependencyMetrics(registers: Registry[]) {
  return {
    apiRequests: new Counter({
      name: 'fluxqueue_kubernetes_requests_total',
      help: 'Requests to the apiserver by verb, resource and status.',
      labelNames: ['verb', 'resource', 'status'],
      registers,
    }),
    watchEnds: new Counter({
      name: 'fluxqueue_watch_ends_total',
      help: 'Ends of watches by resource and kind: closed by the server as usual, expired, failed, silent.',
      labelNames: ['resource', 'end'],
      registers,
    }),
    databaseSeconds: new Histogram({
      name: 'fluxqueue_database_seconds',
      help: 'Duration of operations on the tables, with the time that a write waits for others, by operation and result.',
      labelNames: ['operation', 'result'],
      buckets: REQUEST_BUCKETS,
      registers,
    }),
    databaseBytes: new Gauge({
      name: 'fluxqueue_database_bytes',
      help: 'Size of the tables of the queue with their indexes, by table.',
      labelNames: ['table'],
      registers,
    }),
    databaseVolumeBytes: new Gauge({
      name: 'fluxqueue_database_volume_bytes',
      help: 'Size of the volume of the database, as the stack asks for it; 0 if it is not the database of the stack.',
      registers,
    }),
    fluxionSeconds: new Histogram({
      name: 'fluxqueue_fluxion_seconds',
      help: 'Duration of calls to Fluxion by call and result; of a match OK, RESERVED, BUSY, UNSATISFIABLE, INVALID or NOT_READY.',
      labelNames: ['call', 'result'],
      buckets: REQUEST_BUCKETS,
      registers,
    }),
  };
}

/** All metrics of the webhook. */
export function webhookMetrics(registry: Registry) {
  const registers = [registry];
  return {
    seconds: new Histogram({
      name: 'fluxqueue_admission_seconds',
      help: 'Time to answer an admission request, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25],
      registers,
    }),
    expiry: new Gauge({
      name: 'fluxqueue_webhook_certificate_expiry_seconds',
      help: 'When the certificate that is served expires, Unix time.',
      registers,
    }),
  };
}

/** All metrics of the reader. */
export function readerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    seconds: new Histogram({
      name: 'fluxqueue_reader_request_seconds',
      help: 'Time to answer a request to the read API, by resource and HTTP status.',
      labelNames: ['resource', 'code'],
      buckets: [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
      registers,
    }),
    expiry: new Gauge({
      name: 'fluxqueue_reader_certificate_expiry_seconds',
      help: 'When the certificate that is served expires, Unix time.',
      registers,
    }),
  };
}

/** A gauge that asks `isWarm` whenever it is read. */
export function standbyWarmGauge(registry: Registry, isWarm: () => boolean): Gauge {
  return new Gauge({
    name: 'fluxqueue_standby_warm',
    help: '1 while this replica does not lead and its watches and its copy of the rows are complete.',
    registers: [registry],
    collect() {
      this.set(isWarm() ? 1 : 0);
    },
  });
}

/** A gauge that asks `isPending` whenever it is read. */
export function leaderPendingGauge(registry: Registry, isPending: () => boolean): Gauge {
  return new Gauge({
    name: 'fluxqueue_leader_pending',
    help: '1 while this replica holds the Lease and does not lead, so that no replica schedules.',
    registers: [registry],
    collect() {
      this.set(isPending() ? 1 : 0);
    },
  });
}
