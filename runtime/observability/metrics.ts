/** All metrics of the controller. Their names are fluxqueue_<subject>_<unit>. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

export function controllerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    apiRequests: new Counter({
      name: 'fluxqueue_kubernetes_requests_total',
      help: 'Requests to the apiserver by verb, resource and status.',
      labelNames: ['verb', 'resource', 'status'],
      registers,
    }),
    leader: new Gauge({ name: 'fluxqueue_leader', help: '1 while this replica leads.', registers }),
    workloads: new Gauge({
      name: 'fluxqueue_workloads',
      help: 'Workloads that are not finished, by phase.',
      labelNames: ['phase'],
      registers,
    }),
    passSeconds: new Histogram({
      name: 'fluxqueue_pass_seconds',
      help: 'Duration of a scheduling pass, matching and commit included.',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
      registers,
    }),
    grants: new Counter({ name: 'fluxqueue_grants_total', help: 'Allocations granted.', registers }),
    rebuilds: new Counter({
      name: 'fluxqueue_fluxion_rebuilds_total',
      help: 'Times the graph was initialised and the allocations replayed, by cause.',
      labelNames: ['cause'],
      registers,
    }),
    repairs: new Counter({
      name: 'fluxqueue_repairs_total',
      help: 'Differences between the tables, the apiserver and Fluxion that were found and repaired, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    invalidWorkloads: new Counter({
      name: 'fluxqueue_invalid_workloads_total',
      help: 'Times a workload was found to be invalid or to exceed the budget of one workload, by stage: intake or matching.',
      labelNames: ['stage'],
      registers,
    }),
    databaseBytes: new Gauge({
      name: 'fluxqueue_database_bytes',
      help: 'Size of the tables of the queue with their indexes, by table.',
      labelNames: ['table'],
      registers,
    }),
    waitSeconds: new Histogram({
      name: 'fluxqueue_wait_seconds',
      help: 'From submission to release.',
      buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000],
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
