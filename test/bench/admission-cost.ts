/**
 * `npm run -s bench:admission-cost -- [--against FILE] [--requests 100] [--turns 16] [--json]`: what admission by policies
 * costs the apiserver for each write of a one-pod Job. Dry runs in a namespace of the queue and in another one; the CPU of
 * apiservers without admission, with that of this version, and with that of FILE, which `--print` of another version writes,
 * in turn. Progress goes to stderr.
 */
import { readFileSync } from 'node:fs';
import { App } from 'cdk8s';
import { Command } from 'commander';
import { parseAllDocuments, stringify } from 'yaml';
import {
  ASSIGNMENT_ANNOTATION,
  JOBID_ANNOTATION,
  NAMESPACE_LABEL,
  STACK_NAMESPACE,
} from '../../constructs/api/labels';
import { defaultStack } from '../../constructs/fluxqueue';
import { JOB_CONTROLLER } from '../admission/corpus-objects';
import { ALICE, CONTROLLER, USER_RIGHTS, type Users, usersOf } from '../admission/users';
import { type Cluster, type KubeObject, startCluster } from '../cluster/cluster';
import { print, round } from './jobs';
import { threadMilliseconds } from './processes';
import { quantile } from './statistics';

const options = new Command('bench:admission-cost')
  .option('--against <file>', 'manifests of another version')
  .option('--print', 'print the manifests of this version and end', false)
  .option('--requests <n>', 'requests of each kind per turn', Number, 100)
  .option('--turns <n>', 'turns', Number, 16)
  .option('--json', 'print only one line of JSON on stdout', false)
  .parse()
  .opts<{ against?: string; print: boolean; requests: number; turns: number; json: boolean }>();

const IN_FLIGHT = 4;
const ALLOCATION_REQUESTS = 1000;
/** Other load makes turns slower and none faster, so that the fast ones tell what a request costs. */
const FAST = 0.25;
const NAMESPACES = { queue: 'queued', outside: 'outside' } as const;
type Where = keyof typeof NAMESPACES;

const POD_SPEC = {
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
};
const GRANT = { [ASSIGNMENT_ANNOTATION]: '0/1:node-0', [JOBID_ANNOTATION]: '7' };
const OWNER = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'waiting',
  uid: '6f1d2a0e-0000-4000-8000-000000000001',
  controller: true,
};

function jobNamed(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const spec = { template: { spec: POD_SPEC } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, labels }, spec };
}

function podNamed(name: string, where: Where): KubeObject {
  const metadata = {
    name,
    ownerReferences: [OWNER],
    finalizers: ['batch.kubernetes.io/job-tracking'],
    labels: { 'job-name': 'waiting', 'batch.kubernetes.io/job-name': 'waiting' },
    ...(where === 'queue' && { annotations: GRANT }),
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: POD_SPEC };
}

interface Request {
  readonly user: string;
  readonly verb: 'POST' | 'PATCH';
  /** Below `/apis/GROUP/VERSION/namespaces/NAMESPACE/`; without a group below `/api/v1/namespaces/NAMESPACE/`. */
  readonly path: string;
  readonly group?: string;
  readonly body: object;
  /** How often a Job without settings needs it. */
  readonly times: number;
}

/** The writes of a one-pod Job, each by the user who sends it. */
const REQUESTS: Readonly<Record<string, (where: Where) => Request>> = {
  'create the Job': () => ({
    user: ALICE,
    verb: 'POST',
    group: 'batch',
    path: 'jobs',
    body: jobNamed('new'),
    times: 1,
  }),
  'create a Job with settings': () => ({
    user: ALICE,
    verb: 'POST',
    group: 'batch',
    path: 'jobs',
    body: jobNamed('new', { 'fluxqueue/walltime': '90m', 'fluxqueue/queue': 'default' }),
    times: 0,
  }),
  'release the Job': (where) => ({
    user: where === 'queue' ? CONTROLLER : ALICE,
    verb: 'PATCH',
    group: 'batch',
    path: 'jobs/waiting',
    body: {
      spec: {
        suspend: false,
        activeDeadlineSeconds: 600,
        ...(where === 'queue' && { template: { metadata: { annotations: GRANT } } }),
      },
    },
    times: 1,
  }),
  'status of the Job': () => ({
    user: JOB_CONTROLLER,
    verb: 'PATCH',
    group: 'batch',
    path: 'jobs/waiting/status',
    body: { status: { terminating: 1 } },
    times: 4,
  }),
  'create the pod': (where) => ({
    user: JOB_CONTROLLER,
    verb: 'POST',
    path: 'pods',
    body: podNamed('new', where),
    times: 1,
  }),
  'status of the pod': () => ({
    user: 'system:kube-scheduler',
    verb: 'PATCH',
    path: 'pods/running/status',
    body: { status: { message: 'another' } },
    times: 2,
  }),
  'finalizer of the pod': () => ({
    user: JOB_CONTROLLER,
    verb: 'PATCH',
    path: 'pods/running',
    body: { metadata: { finalizers: null } },
    times: 1,
  }),
  'an Event': (where) => ({
    user: JOB_CONTROLLER,
    verb: 'POST',
    path: 'events',
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'new' },
      involvedObject: { kind: 'Job', name: 'waiting', namespace: NAMESPACES[where] },
    },
    times: 6,
  }),
};

/** The objects of admission and the kinds and classes that it names. */
function manifestsOfThisVersion(): readonly KubeObject[] {
  const app = new App();
  defaultStack(app, { kubernetesVersion: '1.37.1', admission: 'policies', externalRuntime: {} });
  const needed = /Admission|^CustomResourceDefinition$|^PriorityClass$/;
  return app.charts
    .flatMap((chart) => chart.toJson() as KubeObject[])
    .filter(({ kind, metadata }) => needed.test(kind) || metadata.name === STACK_NAMESPACE);
}

interface Variant {
  readonly name: string;
  readonly cluster: Cluster;
  readonly users: Users;
}

async function start(name: string, manifests: readonly KubeObject[]): Promise<Variant> {
  const namespaces = Object.entries(NAMESPACES).map(([where, namespace]) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: where === 'queue' ? { [NAMESPACE_LABEL]: 'true' } : {} },
  }));
  const objects = [...namespaces, USER_RIGHTS, ...manifests];
  const cluster = await startCluster({ scheduler: false, objects, progress: print });
  const variant = { name, cluster, users: usersOf(cluster) };
  for (const where of Object.keys(NAMESPACES) as Where[]) {
    const account = `/api/v1/namespaces/${NAMESPACES[where]}/serviceaccounts/default`;
    await cluster.waitFor('its ServiceAccount', () => cluster.get(account));
    if (where === 'queue' && manifests.length > 0)
      await cluster.waitFor('admission', async () => {
        const made = await send(variant, where, REQUESTS['create the Job']!(where));
        return (made.spec as { suspend?: boolean }).suspend === true;
      });
    const waiting = { ...jobNamed('waiting'), spec: { suspend: true, template: { spec: POD_SPEC } } };
    await accepted(variant.users.create(ALICE, NAMESPACES[where], waiting));
    // The garbage collector deletes a pod whose owner is not there.
    const { ownerReferences: _, ...metadata } = podNamed('running', where).metadata;
    const pod = { ...podNamed('running', where), metadata };
    await accepted(
      variant.users.create(ALICE, NAMESPACES[where], {
        ...pod,
        metadata: { ...metadata, annotations: {} },
      } as KubeObject),
    );
  }
  return variant;
}

async function accepted(reply: ReturnType<Users['create']>): Promise<KubeObject> {
  const { status, body } = await reply;
  if (status >= 300) throw new Error(`the apiserver refused an object: ${body.message}`);
  return body;
}

function send({ users }: Variant, where: Where, { user, verb, group, path, body }: Request) {
  const root = group === undefined ? '/api/v1' : `/apis/${group}/v1`;
  return accepted(users.send(user, verb, `${root}/namespaces/${NAMESPACES[where]}/${path}?dryRun=All`, body));
}

async function sendMany(variant: Variant, where: Where, request: Request, count: number): Promise<void> {
  let left = count;
  const sendSome = async () => {
    while (left-- > 0) await send(variant, where, request);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendSome));
}

/** Milliseconds of the apiserver's CPU for one request. */
async function cpuOf(variant: Variant, where: Where, request: Request): Promise<number> {
  const { pid } = variant.cluster.component('kube-apiserver');
  const before = threadMilliseconds(pid);
  await sendMany(variant, where, request, options.requests);
  return (threadMilliseconds(pid) - before) / options.requests;
}

async function allocatedKilobytes({ cluster }: Variant): Promise<number> {
  const { text } = await cluster.api.send('GET', '/metrics');
  return Number(/^go_memstats_alloc_bytes_total (\S+)$/m.exec(text)![1]) / 1000;
}

/** Kilobytes that the apiserver allocates for one request. Unlike CPU, they do not depend on what else the machine does. */
async function allocationOf(variant: Variant, where: Where, request: Request): Promise<number> {
  const count = ALLOCATION_REQUESTS;
  const start = await allocatedKilobytes(variant);
  const before = await allocatedKilobytes(variant);
  await sendMany(variant, where, request, count);
  return ((await allocatedKilobytes(variant)) - before - (before - start)) / count;
}

const emptyRows = (variants: readonly Variant[]) =>
  (Object.keys(NAMESPACES) as Where[]).flatMap((where) =>
    Object.entries(REQUESTS).map(([name, make]) => {
      const costs = Object.fromEntries(variants.map((variant) => [variant.name, [] as number[]]));
      return { where, name, request: make(where), costs, kB: {} as Record<string, number> };
    }),
  );

async function runTurn(
  rows: ReturnType<typeof emptyRows>,
  variants: readonly Variant[],
  counts: boolean,
): Promise<void> {
  for (const { where, request, costs } of rows)
    for (const variant of variants) {
      const milliseconds = await cpuOf(variant, where, request);
      if (counts) costs[variant.name]!.push(milliseconds);
    }
}

async function measure(variants: readonly Variant[]) {
  const rows = emptyRows(variants);
  // The first turn compiles expressions and fills caches.
  for (let turn = 0; turn <= options.turns; turn++) {
    print(`turn ${turn} of ${options.turns}`);
    await runTurn(rows, turn % 2 === 0 ? variants : variants.toReversed(), turn > 0);
  }
  for (const { where, request, kB } of rows)
    for (const variant of variants) kB[variant.name] = round(await allocationOf(variant, where, request));
  return rows.map(({ where, name, request: { times }, costs, kB }) => {
    const fast = Object.entries(costs).map(([variant, each]) => [variant, round(quantile(each, FAST))]);
    return { where, name, times, ms: Object.fromEntries(fast) as Record<string, number>, kB };
  });
}

type Row = Awaited<ReturnType<typeof measure>>[number];

/** What the writes of one Job cost together. */
function perJob(rows: readonly Row[], where: Where, figure: 'ms' | 'kB'): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const row of rows)
    if (row.where === where)
      for (const [variant, value] of Object.entries(row[figure]))
        sums[variant] = round((sums[variant] ?? 0) + value * row.times);
  return sums;
}

const perJobIn = (rows: readonly Row[], where: Where) => ({
  ms: perJob(rows, where, 'ms'),
  kB: perJob(rows, where, 'kB'),
});

async function main(): Promise<void> {
  if (options.print) {
    process.stdout.write(
      manifestsOfThisVersion()
        .map((object) => `---\n${stringify(object)}`)
        .join(''),
    );
    return;
  }
  const sets: Record<string, readonly KubeObject[]> = { none: [], this: manifestsOfThisVersion() };
  if (options.against !== undefined)
    sets.other = parseAllDocuments(readFileSync(options.against, 'utf8')).map((document) => document.toJS());
  const variants: Variant[] = [];
  try {
    for (const [name, manifests] of Object.entries(sets)) variants.push(await start(name, manifests));
    const requests = await measure(variants);
    const result = {
      requests,
      perJob: { queue: perJobIn(requests, 'queue'), outside: perJobIn(requests, 'outside') },
    };
    process.stdout.write(`${JSON.stringify(result, undefined, options.json ? 0 : 2)}\n`);
  } finally {
    for (const { users, cluster } of variants) {
      users.close();
      await cluster.stop();
    }
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
