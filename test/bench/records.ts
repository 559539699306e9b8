/** Watches when the FluxJobs of a namespace say Finished. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { Reflector } from '../../runtime/kubernetes/reflector';
import { createLogger } from '../../runtime/observability/log';

export class Records {
  /** Unix seconds at which this process saw it, by uid of the workload. */
  readonly finished = new Map<string, number>();
  private readonly reflector: Reflector<FluxJobObject>;
  private waiting: { readonly count: number; readonly done: () => void } | undefined;

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

  /** Resolves when so many FluxJobs are final. */
  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.waiting = { count, done: resolve };
      this.check();
    });
  }

  private seen(object: FluxJobObject | undefined): void {
    if (object?.status?.phase !== 'Finished') return;
    const { uid } = object.spec.workload;
    if (!this.finished.has(uid)) this.finished.set(uid, Date.now() / 1000);
    this.check();
  }

  private check(): void {
    if (this.waiting !== undefined && this.finished.size >= this.waiting.count) this.waiting.done();
  }
}
