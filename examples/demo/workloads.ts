/** What the demo submits: the manifests of examples/jobs, made to the size of the cluster. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Read by the demo's nodes only: how long the pod runs. */
export const DURATION = 'fluxqueue.test/duration';
/** Small jobs differ, so that they leave gaps and fill them: part of a node, seconds they run. */
const MIX = [
  { part: 1 / 4, seconds: 2 },
  { part: 1 / 2, seconds: 3 },
  { part: 1 / 8, seconds: 4 },
  { part: 1, seconds: 2 },
  { part: 1 / 4, seconds: 5 },
] as const;

/** What the demo's workloads are cut to. */
export interface Room {
  readonly nodes: number;
  /** Cores of a node that the demo may use. */
  readonly coresPerNode: number;
}

export interface DemoWorkloads {
  /** All of these can run. */
  readonly runnable: readonly Manifest[];
  readonly impossible: Manifest;
}

/** @param jobs how many runnable ones, at least 3 */
export function demoWorkloads(namespace: string, room: Room, jobs: number): DemoWorkloads {
  const small = Array.from({ length: jobs - 2 }, (_, i) => smallJob(namespace, i, room));
  // The wide one comes when the cluster is full: it needs a reservation, and what comes after it may backfill.
  const before = Math.ceil(small.length / 3);
  const runnable = [
    ...small.slice(0, before),
    wideJob(namespace, room),
    plainPod(namespace),
    ...small.slice(before),
  ];
  return { runnable, impossible: placed(example('impossible'), namespace, {}) };
}

function smallJob(namespace: string, index: number, { coresPerNode }: Room): Manifest {
  const { part, seconds } = MIX[index % MIX.length]!;
  const cores = Math.max(1, Math.floor(coresPerNode * part));
  const { generateName: _, ...metadata } = example('small').metadata;
  const name = `small-${String(index).padStart(4, '0')}`;
  const job = { ...example('small'), metadata: { ...metadata, name } };
  return withTemplate(placed(job, namespace, { 'fluxqueue/walltime': `${seconds * 2}s` }), cores, seconds);
}

function wideJob(namespace: string, { nodes, coresPerNode }: Room): Manifest {
  const pods = Math.max(1, Math.floor(nodes / 2));
  const wide = example('wide');
  const job = { ...wide, spec: { ...wide.spec, completions: pods, parallelism: pods } };
  return withTemplate(placed(job, namespace, { 'fluxqueue/walltime': '20s' }), coresPerNode, 6);
}

function plainPod(namespace: string): Manifest {
  return placed(example('pod'), namespace, { 'fluxqueue/walltime': '10s', [DURATION]: '3s' });
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

function placed(manifest: Manifest, namespace: string, annotations: Record<string, string>): Manifest {
  const { metadata } = manifest;
  return {
    ...manifest,
    metadata: { ...metadata, namespace, annotations: { ...metadata.annotations, ...annotations } },
  };
}

function example(name: string): Manifest {
  const file = join(__dirname, '..', 'jobs', `${name}.yaml`);
  return parse(readFileSync(file, 'utf8')) as Manifest;
}
