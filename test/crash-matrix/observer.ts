/** Observes the system from outside: Postgres by its own SQL, the apiserver as admin, and the engine of Fluxion. */
import { Client } from 'pg';
import type { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import type { FluxionState } from '../../runtime/fluxion/types';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs, nodes, pods } from '../../runtime/kubernetes/paths';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import type { LoggedEvent, Observation, SeenRow } from '../invariants/observation';

const ROWS = `
SELECT uid, name, phase, reason, message, jobid::float8 AS jobid, preemptions, preemptible, allocation, queue, priority::float8 AS priority, seq::float8 AS seq,
  shape, walltime, requeues, pods, recall AS "evictionReason", extract(epoch FROM submitted_at)::float8 AS "submittedAt",
  extract(epoch FROM estimated_start)::float8 AS "estimatedStart"
FROM fluxqueue.workloads`;
const EVENTS = `SELECT extract(epoch FROM at)::float8 AS at, uid, event, detail FROM fluxqueue.events ORDER BY id`;

export class Observer {
  private constructor(
    private readonly database: Client,
    private readonly client: KubernetesClient,
    private readonly engine: EmbeddedEngine,
    private readonly namespace: string,
  ) {}

  static async create(
    url: string,
    client: KubernetesClient,
    engine: EmbeddedEngine,
    namespace: string,
  ): Promise<Observer> {
    const database = new Client({ connectionString: url });
    await database.connect();
    return new Observer(database, client, engine, namespace);
  }

  /** The current observation without the event log. */
  async observe(): Promise<Observation> {
    const [rows, jobList, podList, nodeList, fluxion] = await Promise.all([
      this.rows(),
      this.client.list<Job>(jobs(this.namespace)),
      this.client.list<Pod>(pods(this.namespace)),
      this.client.list<Node>(nodes()),
      this.fluxion(),
    ]);
    return {
      rows,
      events: [],
      jobs: jobList.items,
      pods: podList.items,
      nodes: nodeList.items,
      fluxion,
    };
  }

  async rows(): Promise<SeenRow[]> {
    return (await this.database.query<SeenRow>(ROWS)).rows;
  }

  async events(): Promise<LoggedEvent[]> {
    return (await this.database.query<LoggedEvent>(EVENTS)).rows;
  }

  async close(): Promise<void> {
    await this.database.end();
  }

  /** The state of Fluxion; empty before its first init. */
  private async fluxion(): Promise<Pick<FluxionState, 'jobs' | 'nodes'>> {
    return this.engine.bootId === '' ? { jobs: [], nodes: [] } : this.engine.state();
  }
}
