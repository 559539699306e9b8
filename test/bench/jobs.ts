/** Shared by the benchmarks of the whole system: creates one-pod Jobs with one core and one second, and waits for them. */
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
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
}

/** Creates Jobs `<prefix>-<i>` as fast as the apiserver accepts them. */
export async function runJobs(
  client: KubernetesClient,
  namespace: string,
  prefix: string,
  count: number,
): Promise<JobsRun> {
  const complete = new Set<string>();
  const done = Promise.withResolvers<void>();
  const reflector = new Reflector<Job>({
    client,
    path: jobsPath(namespace),
    logger: createLogger('bench', 'silent'),
    onChange: (key, job) => {
      if (!job?.metadata.name.startsWith(`${prefix}-`) || !isComplete(job)) return;
      complete.add(key);
      if (complete.size === count) done.resolve();
    },
  });
  reflector.start();
  await reflector.synced;
  const started = performance.now();
  const jobs = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      client.create<Job>(jobsPath(namespace), oneJob(`${prefix}-${i}`)),
    ),
  );
  await done.promise;
  const seconds = (performance.now() - started) / 1000;
  await reflector.stop();
  return { seconds, uids: jobs.map(({ metadata }) => metadata.uid) };
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
