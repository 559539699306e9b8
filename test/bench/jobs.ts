/** Shared by the benchmarks of the whole system: creates one-pod Jobs with one core and one second, and waits for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { JOB } from '../../runtime/kubernetes/job-messages';
import { jobs as jobsPath } from '../../runtime/kubernetes/paths';
import { Reflector } from '../../runtime/kubernetes/reflector';
import type { Job } from '../../runtime/kubernetes/types';
import { createLogger } from '../../runtime/observability/log';
import type { Stack } from '../stack/stack';

export const print = (line: string) => process.stderr.write(`${line}\n`);

/** Runs `work` as the cluster's admin. */
export async function withAdmin<T>(stack: Stack, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

export interface JobsRun {
  /** Seconds from the first create until the last Job is Complete. */
  readonly seconds: number;
  readonly uids: readonly string[];
  /** Unix seconds by uid: when the create of each Job was sent and answered, when its watch delivered the Job here, first and as Complete. */
  readonly created: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly delivered: ReadonlyMap<string, number>;
  readonly completed: ReadonlyMap<string, number>;
}

/**
 * Requests in flight. These saturate an apiserver on two cores; more lengthen the line of requests within it and change no
 * rate, and kubectl has one.
 */
export const IN_FLIGHT = 8;

interface JobsOptions {
  /** Creates so many a second. @default - as fast as the apiserver accepts them */
  readonly perSecond?: number;
  /** The Job of a name. @default - one pod with one core */
  readonly jobOf?: (name: string) => object;
  /** @default IN_FLIGHT */
  readonly inFlight?: number;
}

/** Creates Jobs `<prefix>-<i>`, and waits for all of them. */
export async function runJobs(
  client: KubernetesClient,
  namespace: string,
  prefix: string,
  count: number,
  { perSecond = Number.POSITIVE_INFINITY, jobOf = oneJob, inFlight = IN_FLIGHT }: JobsOptions = {},
): Promise<JobsRun> {
  const completed = new Map<string, number>();
  const created = new Map<string, number>();
  const answered = new Map<string, number>();
  const delivered = new Map<string, number>();
  const done = Promise.withResolvers<void>();
  const reflector = new Reflector<Job>({
    client,
    path: jobsPath(namespace),
    // The apiserver has it for the Job controller anyway, and what is measured should not encode JSON for this process.
    protobuf: JOB,
    logger: createLogger('bench', 'silent'),
    onChange: (_, job) => {
      if (!job?.metadata.name.startsWith(`${prefix}-`)) return;
      const { uid } = job.metadata;
      if (!delivered.has(uid)) delivered.set(uid, Date.now() / 1000);
      if (!isComplete(job)) return;
      if (!completed.has(uid)) completed.set(uid, Date.now() / 1000);
      if (completed.size === count) done.resolve();
    },
  });
  reflector.start();
  await reflector.synced;
  const started = performance.now();
  let next = 0;
  const createSome = async () => {
    for (let i = next++; i < count; i = next++) {
      await sleep(Math.max(0, (i * 1000) / perSecond - (performance.now() - started)));
      const at = Date.now() / 1000;
      const { metadata } = await client.create<Job>(jobsPath(namespace), jobOf(`${prefix}-${i}`));
      created.set(metadata.uid, at);
      answered.set(metadata.uid, Date.now() / 1000);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, createSome));
  await done.promise;
  const seconds = (performance.now() - started) / 1000;
  await reflector.stop();
  return { seconds, uids: [...created.keys()], created, answered, delivered, completed };
}

function isComplete({ status }: Job): boolean {
  return (
    status?.conditions?.some(({ type, status: value }) => type === 'Complete' && value === 'True') ?? false
  );
}

function oneJob(name: string): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
