/** Replicas that take part in an election, each behind its own fault proxy. */
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { leases } from '../../runtime/kubernetes/paths';
import type { Lease } from '../../runtime/kubernetes/types';
import { LeaderElector, type LeaderElectorOptions } from '../../runtime/leader/elector';
import type { Cluster } from '../cluster/cluster';
import { waitFor } from '../cluster/wait';
import { type FaultProxy, startFaultProxy } from '../kubernetes/fault-proxy';
import { recordingLogger } from '../kubernetes/recording-logger';

/** Milliseconds. */
export const QUICK = { leaseDuration: 2_000, renewDeadline: 1_200, retryPeriod: 200 };

export interface Replica {
  readonly elector: LeaderElector;
  readonly proxy: FaultProxy;
  /** The fences of its terms. */
  readonly acquired: number[];
  /** Why its terms ended. */
  readonly lost: string[];
}

export class Replicas {
  /** The last fence of the database. */
  fence = 0;
  private readonly started: Replica[] = [];
  private readonly clients: KubernetesClient[] = [];

  constructor(
    private readonly cluster: Cluster,
    /** A client that no fault disturbs. */
    private readonly admin: KubernetesClient,
    /** The name of the Lease. */
    readonly name: string,
  ) {}

  async start(identity: string | undefined, options: Partial<LeaderElectorOptions> = {}): Promise<Replica> {
    const proxy = await startFaultProxy(this.cluster);
    const client = createClient({ kubeconfig: proxy.kubeconfig });
    const acquired: number[] = [];
    const lost: string[] = [];
    const elector = new LeaderElector({
      client,
      namespace: 'default',
      name: this.name,
      ...(identity === undefined ? {} : { identity }),
      fence: async () => {
        this.fence += 1;
        return this.fence;
      },
      onAcquired: (fence) => acquired.push(fence),
      onLost: (reason) => lost.push(reason),
      logger: recordingLogger(),
      ...QUICK,
      ...options,
    });
    const replica = { elector, proxy, acquired, lost };
    this.started.push(replica);
    this.clients.push(client);
    elector.start();
    return replica;
  }

  stored(): Promise<Lease> {
    return this.admin.get<Lease>(leases('default', this.name));
  }

  async stop(): Promise<void> {
    for (const { proxy } of this.started) proxy.resume();
    for (const client of this.clients) client.close();
    await Promise.all(this.started.map(({ elector }) => elector.stop()));
    await Promise.all(this.started.map(({ proxy }) => proxy.stop()));
  }
}

export function leads({ elector }: Replica): Promise<unknown> {
  return waitFor(`${elector.identity} to lead`, () => elector.leading, { everyMs: 5 });
}

export function loses({ elector, lost }: Replica, times: number): Promise<unknown> {
  return waitFor(`${elector.identity} to lose`, () => lost.length === times, { everyMs: 5 });
}
