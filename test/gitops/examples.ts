/**
 * Every example in Git that needs no claim of a reader: what its program writes, a MiniCluster as its manifest, and what `fluxqueue render` makes of that. An engine
 * applies them, the queue runs them, and then neither its diff nor another sync has anything to change.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import type { Manifest } from '../../constructs/validation/manifest';
import { rules } from '../../constructs/validation/rules';
import { render } from '../../runtime/cli/render';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import { isStarting } from '../../runtime/shared/grant-waits';
import type { KubeObject } from '../cluster/api';
import type { Cluster } from '../cluster/cluster';
import type { Findings } from './scenario';
import type { Way } from './ways';

const FOLDER = join(__dirname, '../../examples');
/** With a name that the apiserver makes, it is created and never applied. */
const CREATED = 'jobs/small.yaml';
/** Milliseconds until all of them run, have run, or cannot run here. */
const REST_MS = 180_000;

function files(): readonly string[] {
  const programs = [
    'team.ts',
    ...readdirSync(join(FOLDER, 'minicluster')).map((file) => `minicluster/${file}`),
  ];
  const jobs = readdirSync(join(FOLDER, 'jobs')).map((file) => `jobs/${file}`);
  return [...programs, ...jobs].filter((file) => file !== CREATED).sort();
}

function objectsIn(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

/** Runs the program in this process, because two dozen starts of Node would take a minute. */
function synthesized(file: string): KubeObject[] {
  const outdir = mkdtempSync(join(tmpdir(), 'fluxqueue-example-'));
  const before = process.env.CDK8S_OUTDIR;
  process.env.CDK8S_OUTDIR = outdir;
  try {
    require(join(FOLDER, file));
    const written = readdirSync(outdir).filter((name) => name.endsWith('.k8s.yaml'));
    return written.sort().flatMap((name) => objectsIn(readFileSync(join(outdir, name), 'utf8')));
  } finally {
    if (before === undefined) delete process.env.CDK8S_OUTDIR;
    else process.env.CDK8S_OUTDIR = before;
    rmSync(outdir, { recursive: true });
  }
}

/** A copy in a namespace of its own, since two examples may have objects of one name. */
function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const { subjects } = object as { subjects?: readonly { readonly namespace?: string }[] };
  return {
    ...object,
    metadata: { ...object.metadata, namespace },
    ...(subjects === undefined ? {} : { subjects: subjects.map((each) => ({ ...each, namespace })) }),
  };
}

interface ExampleInGit {
  readonly file: string;
  readonly namespaces: readonly string[];
  readonly objects: readonly KubeObject[];
}

function enabled(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [NAMESPACE_LABEL]: 'true' } } };
}

let known: readonly (readonly [name: string, file: string, objects: readonly KubeObject[]])[] | undefined;

function readAll() {
  return files().flatMap((file) => {
    const name = file.replace(/^.*\//, '').replace('.', '-');
    if (file.endsWith('.ts')) return [[name, file, synthesized(file)] as const];
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const written = [name, file, objectsIn(text)] as const;
    if (!file.startsWith('minicluster/')) return [written];
    return [written, [`${name}-rendered`, file, objectsIn(render({ text, source: file }).yaml)] as const];
  });
}

/** Without its claims, which a reader has, a workload is started and requeued for ever, so two looks at it differ. */
function canRest([, , objects]: readonly [string, string, readonly KubeObject[]]): boolean {
  return !/"(claimName|resourceClaimTemplateName)"/.test(JSON.stringify(objects));
}

/** Everything that may stay in Git, by example; a Job that deletes itself may not (docs/gitops.md). */
function examplesInGit(prefix: string): readonly ExampleInGit[] {
  known ??= readAll();
  const { 'job-stays': stays } = rules({ requireDigest: false });
  return known.filter(canRest).map(([name, file, objects]) => {
    const original = [...new Set(objects.map(({ metadata }) => metadata.namespace))];
    const namespaceOf = ({ metadata }: KubeObject) => {
      const index = original.indexOf(metadata.namespace);
      return `${prefix}-${name}${index > 0 ? `-${index}` : ''}`;
    };
    const kept = objects
      .filter(({ kind }) => kind !== 'Namespace')
      .filter((object) => stays.check(object as unknown as Manifest).length === 0);
    const moved = kept.map((object) => inNamespace(object, namespaceOf(object)));
    const namespaces = [...new Set(moved.map(({ metadata }) => metadata.namespace ?? ''))];
    return { file, namespaces, objects: [...namespaces.map(enabled), ...moved] };
  });
}

export class ExamplesLife {
  private readonly examples: readonly ExampleInGit[];
  private readonly app: string;

  constructor(
    private readonly cluster: Cluster,
    private readonly way: Way,
    private readonly findings: Findings,
  ) {
    this.app = `examples-${way.name}`;
    this.examples = examplesInGit(`ex-${way.name}`);
  }

  async live(): Promise<void> {
    const objects = this.examples.flatMap((example) => example.objects);
    this.findings.objects += objects.length;
    this.add('denied', await this.way.apply(this.app, objects, []));
    await this.rest();
    for (let round = 0; round < 2; round++) this.add('drift', await this.way.drift(this.app, objects));
    // An empty Git is an accident to both engines, which do not prune for it.
    const spaces = objects.filter(({ kind }) => kind === 'Namespace');
    this.add('denied', await this.way.apply(this.app, spaces, objects));
  }

  /** Each Job runs, has run, or waits for what this cluster does not have. */
  private async rest(): Promise<void> {
    this.findings.say(`${this.way.name}: the examples run`);
    await this.cluster.waitFor(`the examples of ${this.way.name} to run`, () => this.areAtRest(), {
      timeoutMs: REST_MS,
      everyMs: 1_000,
    });
  }

  private async areAtRest(): Promise<boolean> {
    let [all, ran] = [0, 0];
    for (const { file, namespaces, objects } of this.examples) {
      const items = (await Promise.all(namespaces.map((namespace) => this.fluxJobsIn(namespace)))).flat();
      const jobs = objects.filter(({ kind }) => kind === 'Job' || kind === 'MiniCluster');
      if (items.length < jobs.length) throw new Error(`${file} has ${items.length} FluxJobs`);
      const starting = items.filter(({ status }) => isMoving(status));
      if (starting.length > 0) throw new Error(starting.map(standing).join('; '));
      all += items.length;
      ran += items.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Finished').length;
    }
    this.findings.say(`${ran} of ${all} workloads run or have run`);
    // The others ask for GPUs, or labels of nodes that this cluster does not have.
    return ran > all / 2;
  }

  private async fluxJobsIn(namespace: string): Promise<readonly FluxJobObject[]> {
    return (await this.cluster.get<{ items: FluxJobObject[] }>(fluxJobs(namespace))).items;
  }

  private add(trouble: 'denied' | 'drift', texts: readonly string[]): void {
    this.findings.add(
      trouble,
      texts.map((text) => `${this.way.name}, the examples: ${text}`),
    );
  }
}

/** It starts, or may start soon. One that waits for a node that nobody makes here is at rest. */
function isMoving(status: FluxJobObject['status']): boolean {
  const { reason = '', message = '' } = scheduledOf(status) ?? {};
  if (status?.phase === 'Waiting') return ['Submitted', 'Busy', 'Reserved'].includes(reason);
  return status?.phase !== 'Finished' && (reason === 'Granted' || isStarting({ reason, message }));
}

function standing({ metadata: { namespace, name }, status }: FluxJobObject): string {
  const { reason, message } = scheduledOf(status) ?? {};
  return `${namespace}/${name} is ${status?.phase} (${reason}: ${message})`;
}

function scheduledOf(status: FluxJobObject['status']) {
  return status?.conditions?.find(({ type }) => type === 'Scheduled');
}
