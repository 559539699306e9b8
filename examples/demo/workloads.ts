/** The workloads of the demo: the manifests of examples/jobs, scaled to the size of the cluster. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface PodTemplate {
  readonly metadata?: object;
  readonly spec: { readonly containers: readonly [object, ...object[]] };
}

const JOBS = join(__dirname, '..', 'jobs');
/** Run time of a pod, which only the nodes of the demo read. */
export const DURATION = 'fluxqueue.test/duration';
/** Different small jobs, which leave gaps and backfill them: the part of a node, and seconds of run time. */
const MIX = [
  { part: 1 / 4, seconds: 4 },
  { part: 1 / 2, seconds: 6 },
  { part: 1 / 8, seconds: 8 },
  { part: 1, seconds: 4 },
  { part: 1 / 4, seconds: 10 },
] as const;

/** The capacity to which the workloads are scaled. */
export interface Capacity {
  readonly nodes: number;
  /** Cores per node that the demo uses. */
  readonly coresPerNode: number;
}

export interface DemoWorkloads {
  /** Workloads that can all run. */
  readonly runnable: readonly Manifest[];
  readonly impossible: Manifest;
}

/** In the order of submission, with the impossible one in the middle. */
export function inSubmissionOrder({ runnable, impossible }: DemoWorkloads): readonly Manifest[] {
  const half = Math.ceil(runnable.length / 2);
  return [...runnable.slice(0, half), impossible, ...runnable.slice(half)];
}

/** @param jobs number of runnable workloads, at least 3 */
export function demoWorkloads(namespace: string, capacity: Capacity, jobs: number): DemoWorkloads {
  const small = Array.from({ length: jobs - 2 }, (_, i) => smallJob(namespace, i, capacity));
  // The wide Job comes when the cluster is full: it needs a reservation, and later Jobs can backfill.
  const before = Math.ceil(small.length / 3);
  const runnable = [
    ...small.slice(0, before),
    wideJob(namespace, capacity),
    plainPod(namespace),
    ...small.slice(before),
  ];
  return { runnable, impossible: withNamespace(example('impossible'), namespace, {}) };
}

function smallJob(namespace: string, index: number, { coresPerNode }: Capacity): Manifest {
  const { part, seconds } = MIX[index % MIX.length]!;
  const cores = Math.max(1, Math.floor(coresPerNode * part));
  const { generateName: _, ...metadata } = example('small').metadata;
  const name = `small-${String(index).padStart(4, '0')}`;
  const job = { ...example('small'), metadata: { ...metadata, name } };
  return withTemplate(
    withNamespace(job, namespace, { 'fluxqueue/walltime': `${seconds * 2}s` }),
    cores,
    seconds,
  );
}

function wideJob(namespace: string, { nodes, coresPerNode }: Capacity): Manifest {
  const pods = Math.max(1, Math.floor(nodes / 2));
  const wide = example('wide');
  const job = { ...wide, spec: { ...wide.spec, completions: pods, parallelism: pods } };
  return withTemplate(withNamespace(job, namespace, { 'fluxqueue/walltime': '20s' }), coresPerNode, 8);
}

function plainPod(namespace: string): Manifest {
  return withNamespace(example('pod'), namespace, { 'fluxqueue/walltime': '10s', [DURATION]: '3s' });
}

function withTemplate(job: Manifest, cores: number, seconds: number): Manifest {
  const template = job.spec!.template as PodTemplate;
  const [container] = template.spec.containers;
  const containers = [{ ...container, resources: { requests: { cpu: String(cores), memory: '1Gi' } } }];
  return {
    ...job,
    spec: {
      ...job.spec,
      template: {
        ...template,
        metadata: { annotations: { [DURATION]: `${seconds}s` } },
        spec: { ...template.spec, containers },
      },
    },
  };
}

function withNamespace(manifest: Manifest, namespace: string, annotations: Record<string, string>): Manifest {
  const { metadata } = manifest;
  return {
    ...manifest,
    metadata: { ...metadata, namespace, annotations: { ...metadata.annotations, ...annotations } },
  };
}

function example(name: string): Manifest {
  return parse(readFileSync(join(JOBS, `${name}.yaml`), 'utf8')) as Manifest;
}

/** The path of a manifest of examples/jobs, as short as the working directory allows. */
export function exampleFile(name: string): string {
  const file = join(JOBS, `${name}.yaml`);
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
