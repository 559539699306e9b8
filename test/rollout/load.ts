/** Jobs that are created at a fixed rate, and what became of them. */
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { atRate } from '../at-rate';
import type { Cluster } from '../cluster/cluster';

const NAMESPACE = 'load';

export interface Refusal {
  /** Seconds since the start of the load. */
  readonly at: number;
  readonly why: string;
}

export class Load {
  readonly refused: Refusal[] = [];
  readonly started = Date.now();
  private readonly pending: Promise<void>[] = [];
  private readonly made: string[] = [];
  private readonly stopping = new AbortController();
  private readonly loop: Promise<void>;

  constructor(
    private readonly cluster: Cluster,
    perSecond: number,
  ) {
    // The rate is the point of this load: a request is sent at its time, whatever became of the others.
    this.loop = atRate(perSecond, this.stopping.signal, (i) => {
      this.pending.push(this.create(`job-${i}`));
    });
  }

  get count(): number {
    return this.pending.length;
  }

  /** Ends the load, and resolves when every request has its answer. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await Promise.all(this.pending);
  }

  /** Names of the Jobs that were accepted and have not succeeded. */
  async unfinished(): Promise<string[]> {
    const path = `${jobs(NAMESPACE)}?fieldSelector=status.successful%3D0`;
    const { items } = await this.cluster.get<{ items: Job[] }>(path);
    const accepted = new Set(this.made);
    return items.map(({ metadata }) => metadata.name).filter((name) => accepted.has(name));
  }

  /** Accepted Jobs of which the apiserver knows nothing. */
  async missing(): Promise<number> {
    const { items } = await this.cluster.get<{ items: Job[] }>(jobs(NAMESPACE));
    const found = new Set(items.map(({ metadata }) => metadata.name));
    return this.made.filter((name) => !found.has(name)).length;
  }

  private async create(name: string): Promise<void> {
    const answer = await this.cluster.api
      .send('POST', jobs(NAMESPACE), jobNamed(name))
      .catch((error: Error) => ({ status: 0, text: error.message }));
    if (answer.status === 201) this.made.push(name);
    else this.refused.push({ at: (Date.now() - this.started) / 1000, why: answer.text.slice(0, 300) });
  }
}

export const LOAD_NAMESPACE = NAMESPACE;

function jobNamed(name: string): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      template: {
        // kwok ends a pod after this time.
        metadata: { annotations: { 'fluxqueue.test/duration': '500ms' } },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
        },
      },
    },
  };
}
