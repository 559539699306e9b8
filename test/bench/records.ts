/** Watches when the FluxJobs of a namespace say Finished. Workloads that succeed at once in a burst have none. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { Reflector } from '../../runtime/kubernetes/reflector';
import { createLogger } from '../../runtime/observability/log';
import type { RoleProcess } from '../stack/roles';
import { unrecorded } from '../stack/unrecorded';

/** Milliseconds between two looks at the metrics, which cost the controller about one. */
const POLL_MS = 500;

export class Records {
  /** Unix seconds at which this process saw it, by uid of the workload. */
  readonly finished = new Map<string, number>();
  private readonly reflector: Reflector<FluxJobObject>;

  constructor(client: KubernetesClient, namespace: string) {
    this.reflector = new Reflector<FluxJobObject>({
      client,
      path: fluxJobs(namespace),
      logger: createLogger('bench', 'silent'),
      onChange: (_, object) => this.seen(object),
    });
  }

  async start(): Promise<void> {
    this.reflector.start();
    await this.reflector.synced;
  }

  async stop(): Promise<void> {
    await this.reflector.stop();
  }

  /** Resolves when so many workloads have a final FluxJob, or finally none. */
  async until(count: number, controller: RoleProcess): Promise<void> {
    while (this.finished.size + (await unrecorded(controller)) < count) await sleep(POLL_MS);
  }

  private seen(object: FluxJobObject | undefined): void {
    if (object?.status?.phase !== 'Finished') return;
    const { uid } = object.spec.workload;
    if (!this.finished.has(uid)) this.finished.set(uid, Date.now() / 1000);
  }
}
