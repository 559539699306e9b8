/** Submits Jobs with real containers during the steps. All of them must finish. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, KubeObject } from '../cluster/cluster';
import { BASE_IMAGE } from './image-names';

export const TEAM = 'team';

export interface JobShape {
  /** Number of pods that run at the same time. @default 1 */
  readonly pods?: number;
  /** What each of them requests. @default '1' */
  readonly cpu?: string;
  /** Run time of a pod in seconds. @default 2 */
  readonly seconds?: number;
}

export interface FluxJobStatus {
  readonly phase?: string;
  readonly allocation?: readonly { readonly node: string }[];
}

/** A Job without any setting of the queue. */
export function jobManifest(name: string, { pods = 1, cpu = '1', seconds = 2 }: JobShape = {}): KubeObject {
  const container = {
    name: 'work',
    image: BASE_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    // exec lets sleep receive the signal of a deletion.
    command: ['sh', '-c', `hostname; exec sleep ${seconds}`],
    resources: { requests: { cpu, memory: '32Mi' } },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: TEAM },
    spec: {
      parallelism: pods,
      completions: pods,
      completionMode: 'Indexed',
      // Pods that the test deletes do not count as failures of the Job.
      backoffLimit: 20,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      template: {
        spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container] },
      },
    },
  };
}

export class Load {
  readonly names: string[] = [];
  /** The errors of refused creations. Each creation was retried. */
  readonly refusals: string[] = [];
  private readonly pausing = { on: true };
  private readonly stopping = new AbortController();
  private readonly submitting: Promise<void>;

  constructor(
    private readonly cluster: Cluster,
    /** The largest number of unfinished Jobs. */
    private readonly open: number,
  ) {
    this.submitting = this.keepBusy();
  }

  resume(): void {
    this.pausing.on = false;
  }

  /** Stops submitting Jobs and waits until all of them have finished. */
  async drain(timeoutMs = 180_000): Promise<void> {
    this.pausing.on = true;
    await this.waitFinished(this.names, timeoutMs);
  }

  /** Creates a Job, with retries while it is refused, and returns its name. */
  async submit(name: string, shape?: JobShape): Promise<string> {
    await this.cluster.waitFor(`Job ${name} to be created`, () => this.create(name, shape), {
      timeoutMs: 120_000,
    });
    this.names.push(name);
    return name;
  }

  async job(name: string): Promise<{
    spec: { suspend?: boolean };
    status?: { succeeded?: number; conditions?: { type: string; status: string }[] };
  }> {
    return this.cluster.get(`/apis/batch/v1/namespaces/${TEAM}/jobs/${name}`);
  }

  async fluxJob(name: string): Promise<FluxJobStatus> {
    const path = `/apis/jobs.converged-computing.org/v1alpha1/namespaces/${TEAM}/fluxjobs/${name}-job`;
    const { status = {} } = await this.cluster.get<{ status?: FluxJobStatus }>(path);
    return status;
  }

  /** The FluxJob, once it says Finished: it is written a moment after the Job has ended. */
  finishedFluxJob(name: string): Promise<FluxJobStatus> {
    return this.cluster.waitFor(`FluxJob ${name} to say Finished`, async () => {
      const status = await this.fluxJob(name);
      return status.phase === 'Finished' ? status : undefined;
    });
  }

  /** Returns the nodes on which pods of the Job ran. */
  async nodesOfPods(name: string): Promise<string[]> {
    const path = `/api/v1/namespaces/${TEAM}/pods?labelSelector=batch.kubernetes.io/job-name%3D${name}`;
    const { items } = await this.cluster.get<{ items: { spec: { nodeName?: string } }[] }>(path);
    return items.map(({ spec }) => spec.nodeName ?? '');
  }

  /** Waits until each of these Jobs is Complete. */
  async waitFinished(names: readonly string[], timeoutMs: number): Promise<void> {
    await this.cluster.waitFor(
      `${names.length} Jobs to finish`,
      async () => (await this.unfinished(names)).length === 0,
      {
        timeoutMs,
        everyMs: 250,
      },
    );
  }

  /** Returns the names of the Jobs that are not Complete. */
  async unfinished(names: readonly string[] = this.names): Promise<string[]> {
    const { items } = await this.cluster.get<{ items: (KubeObject & Awaited<ReturnType<Load['job']>>)[] }>(
      `/apis/batch/v1/namespaces/${TEAM}/jobs`,
    );
    const complete = new Set(
      items
        .filter(({ status }) =>
          status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True'),
        )
        .map(({ metadata }) => metadata.name),
    );
    return names.filter((name) => !complete.has(name));
  }

  /** Ends the load; Jobs that are open stay. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.submitting;
  }

  private async keepBusy(): Promise<void> {
    for (let number = 0; !this.stopping.signal.aborted; ) {
      await delay(300);
      if (this.pausing.on) continue;
      if ((await this.unfinished()).length >= this.open) continue;
      const name = `load-${number}`;
      if (await this.create(name, { seconds: 1 + (number % 4) })) {
        this.names.push(name);
        number++;
      }
    }
  }

  private async create(name: string, shape?: JobShape): Promise<boolean> {
    const { status, text } = await this.cluster.api.send(
      'POST',
      `/apis/batch/v1/namespaces/${TEAM}/jobs`,
      jobManifest(name, shape),
    );
    // Conflict: an answer was lost, the Job was not.
    if (status < 400 || status === 409) return true;
    this.refusals.push(text);
    return false;
  }
}
