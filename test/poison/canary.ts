/** A one-pod Job every second in a namespace of its own: how long each waits for its release, or for the Job controller. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs } from '../../runtime/kubernetes/paths';
import { Reflector } from '../../runtime/kubernetes/reflector';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import { waitFor } from '../cluster/wait';
import { container } from './objects';

const EVERY_MS = 1_000;

/** Whether the queue has released the Job. */
export const isReleased = ({ spec }: Job): boolean => spec.suspend === false;
/** Whether the Job controller has started the Job: in a namespace without the queue nothing comes before. */
export const isStarted = ({ status }: Job): boolean => status?.startTime !== undefined;

export class Canary {
  private readonly created = new Map<string, number>();
  /** Milliseconds that the apiserver took to answer each creation. */
  private readonly answers: number[] = [];
  private readonly seen = new Map<string, number>();
  private readonly done = new Map<string, number>();
  private readonly reflector: Reflector<Job>;
  private timer: NodeJS.Timeout | undefined;
  private refused: unknown;

  constructor(
    private readonly client: KubernetesClient,
    private readonly namespace: string,
    isDone: (job: Job) => boolean,
  ) {
    this.reflector = new Reflector<Job>({
      client,
      path: jobs(namespace),
      logger: createLogger('canary', 'silent'),
      onChange: (_, job) => {
        if (job === undefined) return;
        note(this.seen, job);
        if (isDone(job)) note(this.done, job);
      },
    });
  }

  async start(): Promise<void> {
    this.reflector.start();
    await this.reflector.synced;
    this.timer = setInterval(() => void this.create(), EVERY_MS);
  }

  get count(): number {
    return this.created.size;
  }

  get open(): number {
    return this.created.size - this.done.size;
  }

  /** Milliseconds of every creation, shortest first: the apiserver's share of the waits. */
  creations(): readonly number[] {
    return [...this.answers].sort((a, b) => a - b);
  }

  /** Milliseconds until a watch of this process showed the creation, shortest first: the share of the apiserver's watches. */
  sightings(): readonly number[] {
    return this.since(this.seen);
  }

  /** Milliseconds of every canary, shortest first. Those that are not done yet count with their time so far. */
  waits(): readonly number[] {
    return this.since(this.done);
  }

  /** Creates no more, and waits until all are done. */
  async stop(timeoutMs: number): Promise<void> {
    clearInterval(this.timer);
    try {
      await waitFor(
        'all canaries',
        () => {
          if (this.refused !== undefined) throw this.refused;
          const open = [...this.created.keys()].filter((name) => !this.done.has(name));
          if (open.length > 0) throw new Error(`${open.length} wait, the first is ${open[0]}`);
          return true;
        },
        { timeoutMs },
      );
    } finally {
      this.reflector.stop();
    }
  }

  private since(times: ReadonlyMap<string, number>): readonly number[] {
    const now = performance.now();
    return [...this.created].map(([name, at]) => (times.get(name) ?? now) - at).sort((a, b) => a - b);
  }

  private async create(): Promise<void> {
    const name = `canary-${this.created.size}`;
    this.created.set(name, performance.now());
    const template = {
      metadata: { annotations: { 'fluxqueue.test/duration': '300ms' } },
      spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [container('main')] },
    };
    try {
      await this.client.create<Job>(jobs(this.namespace), {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name },
        spec: { template },
      });
      this.answers.push(performance.now() - this.created.get(name)!);
    } catch (error) {
      this.refused = error;
    }
  }
}

/** Notes when this Job was first met. */
function note(times: Map<string, number>, { metadata: { name } }: Job): void {
  if (!times.has(name)) times.set(name, performance.now());
}

/** The value below which this share of the sorted values is. */
export function quantile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0);
}
