/**
 * `npm run -s bench:admission -- [--json] [--rate 500] [--seconds 4] [--trials 5]`: measures the cost of admission. The
 * webhook role runs in its own process under an open-loop load over TLS; the trial with the median p99 counts. The
 * policies are measured by the metrics of the apiserver. Both are compared with no admission from a client of the
 * apiserver. Progress goes to stderr.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { makeCertificate } from '../../runtime/admission/certificates';
import { encodeAssignment } from '../../runtime/workloads/assignment';
import { JOB_CONTROLLER, job, pod } from '../admission/corpus-objects';
import { FORMS, type Form, installForms, PLAIN } from '../admission/forms';
import { usersOf } from '../admission/users';
import type { KubeObject } from '../cluster/api';
import { controlPlaneAvailable } from '../cluster/assets';
import { type Cluster, startCluster } from '../cluster/cluster';
import { freePorts } from '../cluster/ports';
import { waitFor } from '../cluster/wait';
import { Roles } from '../stack/roles';
import { type HistogramFigures, HistogramReading } from './histogram';
import { type Load, type Measured, runLoad } from './open-loop';
import { quantile } from './statistics';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rate: { type: 'string', default: '500' },
    /** Duration of one trial. */
    seconds: { type: 'string', default: '4' },
    trials: { type: 'string', default: '5' },
    /** Number of objects created per form of admission. */
    creates: { type: 'string', default: '400' },
  },
});

interface Trial {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The part that the load generator itself adds by sending late. */
  readonly sendLagP50Ms: number;
  readonly sendLagP99Ms: number;
}

interface WebhookFigures extends Trial {
  readonly p99MsOfTrials: readonly number[];
  readonly requests: number;
  readonly ratePerSecond: number;
  readonly cpuSecondsPer1000Requests: number;
  readonly rssMiB: number;
}

/** Median milliseconds of one create (dry run), measured by a client. */
type ClientFigures = Record<Form | typeof PLAIN, number>;

const LOOPBACK = '127.0.0.1';
const WARM_UP_SECONDS = 3;
/** The limit of the apiserver for idle connections to one host. */
const CONNECTIONS = 25;
const print = (line: string) => process.stderr.write(`${line}\n`);

/** A mix of objects as in a busy cluster: a Job, a plain pod, and pods of released Jobs on 64 nodes. */
function objects(): KubeObject[] {
  const parts = Array.from({ length: 64 }, (_, i) => ({
    node: `ip-10-0-${i}-17.eu-west-1.compute.internal`,
    pods: 4,
  }));
  const assignment = encodeAssignment(parts);
  const ofJob = (index: number) =>
    pod(required, {
      labels: { 'job-name': 'train', 'batch.kubernetes.io/job-name': 'train' },
      annotations: { [ASSIGNMENT_ANNOTATION]: assignment, [COMPLETION_INDEX_ANNOTATION]: String(index) },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'a-b-c', controller: true },
      ],
    });
  const settings = { labels: { 'fluxqueue/walltime': '90m', 'fluxqueue/priority': '10' } };
  return [
    job({ completions: 256, parallelism: 256, completionMode: 'Indexed' }, settings),
    pod({}, settings),
    ofJob(7),
    ofJob(255),
  ];
}

const required = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }],
      },
    },
  },
};

function reviewOf(object: KubeObject): object {
  const [group, version] = object.kind === 'Job' ? ['batch', 'v1'] : ['', 'v1'];
  const resource = `${object.kind.toLowerCase()}s`;
  const f = {
    'f:metadata': { 'f:labels': {} },
    'f:spec': Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f:field${i}`, {}])),
  };
  const managedFields = [
    {
      manager: 'kubectl',
      operation: 'Update',
      apiVersion: object.apiVersion,
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: f,
    },
  ];
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: { group, version, kind: object.kind },
      resource: { group, version, resource },
      requestKind: { group, version, kind: object.kind },
      operation: 'CREATE',
      namespace: 'team',
      userInfo: { username: JOB_CONTROLLER, groups: ['system:serviceaccounts', 'system:authenticated'] },
      object: { ...object, metadata: { ...object.metadata, managedFields } },
      oldObject: null,
      dryRun: false,
    },
  };
}

async function benchWebhook({ rate, seconds, trials }: Settings): Promise<WebhookFigures> {
  const roles = new Roles();
  const certDir = mkdtempSync(join(tmpdir(), 'fluxqueue-bench-'));
  try {
    const tls = await makeCertificate({ names: [LOOPBACK], now: new Date() });
    writeFileSync(join(certDir, 'tls.crt'), tls.cert);
    writeFileSync(join(certDir, 'tls.key'), tls.key);
    const [port = 0] = await freePorts(1);
    const role = await roles.start('webhook', {
      logLevel: 'warn',
      webhook: { host: LOOPBACK, port, certDir },
    });
    await waitFor('the webhook role', () => role.isReady().catch(unlessEnded(role.process)), {
      timeoutMs: 60_000,
    });
    const load = webhookLoad(port, tls.bundle, rate);
    await runLoad({ ...load, requests: rate * WARM_UP_SECONDS });
    const cpuBefore = gauge(await role.metrics(), 'process_cpu_seconds_total');
    const results: Trial[] = [];
    for (let trial = 0; trial < trials; trial++)
      results.push(trialOf(await runLoad({ ...load, requests: rate * seconds })));
    const metrics = await role.metrics();
    const requests = rate * seconds * trials;
    const cpuSeconds = gauge(metrics, 'process_cpu_seconds_total') - cpuBefore;
    const byP99 = results.toSorted((a, b) => a.p99Ms - b.p99Ms);
    return {
      ...byP99[Math.floor((trials - 1) / 2)]!,
      p99MsOfTrials: results.map(({ p99Ms }) => p99Ms),
      requests,
      ratePerSecond: rate,
      cpuSecondsPer1000Requests: (cpuSeconds / requests) * 1000,
      rssMiB: gauge(metrics, 'process_resident_memory_bytes') / 2 ** 20,
    };
  } finally {
    await roles.stop();
    rmSync(certDir, { recursive: true });
  }
}

/** The load of admission reviews. Every response must have a patch. */
function webhookLoad(port: number, ca: string, perSecond: number): Omit<Load, 'requests'> {
  const bodies = objects().map((object) => Buffer.from(JSON.stringify(reviewOf(object))));
  return {
    host: LOOPBACK,
    port,
    path: '/mutate?timeout=5s',
    ca,
    perSecond,
    connections: CONNECTIONS,
    body: (index) => bodies[index % bodies.length]!,
    check: (_index, status, text) => {
      if (status !== 200 || !text.includes('"patchType":"JSONPatch"'))
        throw new Error(`the response has no patch: ${status} ${text}`);
    },
  };
}

function trialOf({ latencies, lags }: Measured): Trial {
  return {
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: Math.max(...latencies),
    sendLagP50Ms: quantile(lags, 0.5),
    sendLagP99Ms: quantile(lags, 0.99),
  };
}

/** Ignores errors until the role listens, but not after it has exited. */
function unlessEnded(process: { readonly running: boolean }): (error: unknown) => false {
  return (error) => {
    if (!process.running) throw error;
    return false;
  };
}

function gauge(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

/** Sends the same objects to a real apiserver: measures the policies by their histogram, and whole requests per form. */
async function benchPolicies(
  cluster: Cluster,
  creates: number,
): Promise<{ policy: HistogramFigures; client: ClientFigures }> {
  const webhook = await installForms(cluster);
  const users = usersOf(cluster);
  try {
    const name = 'apiserver_mutating_admission_policy_check_duration_seconds';
    const read = async () => HistogramReading.of((await cluster.api.send('GET', '/metrics')).text, name);
    const create = async (namespace: string, object: KubeObject): Promise<number> => {
      const path = `/${object.kind === 'Job' ? 'apis/batch/v1' : 'api/v1'}/namespaces/${namespace}/${object.kind.toLowerCase()}s?dryRun=All`;
      const started = performance.now();
      const { status, body } = await users.send(JOB_CONTROLLER, 'POST', path, object);
      if (status !== 201) throw new Error(`the apiserver refused an object: ${body.message}`);
      return performance.now() - started;
    };
    const all = objects().map((object) => (object.kind === 'Pod' ? withValidOwner(object) : object));
    const namespaces = [PLAIN, ...FORMS];
    const times: Record<string, number[]> = Object.fromEntries(
      namespaces.map((namespace) => [namespace, []]),
    );
    for (const namespace of namespaces) for (const object of all) await create(namespace, object);
    const before = await read();
    // Alternating, so that other load of the machine affects all forms alike.
    for (let index = 0; index < creates; index++)
      for (const namespace of namespaces)
        times[namespace]!.push(await create(namespace, all[index % all.length]!));
    const policy = (await read()).since(before);
    const median = (namespace: string) => quantile(times[namespace] ?? [], 0.5);
    return {
      policy,
      client: { plain: median(PLAIN), policies: median('policies'), webhook: median('webhook') },
    };
  } finally {
    users.close();
    await webhook.stop();
  }
}

function withValidOwner(object: KubeObject): KubeObject {
  const owners = (object.metadata.ownerReferences as object[] | undefined)?.map((owner) => ({
    ...owner,
    uid: '6f1d2a0e-0000-4000-8000-000000000001',
  }));
  return owners === undefined
    ? object
    : { ...object, metadata: { ...object.metadata, ownerReferences: owners } };
}

async function policiesIfPossible(creates: number) {
  const possible = controlPlaneAvailable();
  if (!possible.available) {
    print(`skipped: the policies (${possible.reason})`);
    return { policy: null, client: null };
  }
  print('measuring the policies on a separate control plane ...');
  const cluster = await startCluster({ scheduler: false, progress: print });
  try {
    return await benchPolicies(cluster, creates);
  } finally {
    await cluster.stop();
  }
}

interface Settings {
  readonly rate: number;
  readonly seconds: number;
  readonly trials: number;
  readonly creates: number;
}

function settings(): Settings {
  const { rate, seconds, trials, creates } = options;
  const numbers = Object.entries({ rate, seconds, trials, creates }).map(([name, text]) => {
    if (!/^[1-9][0-9]{0,5}$/.test(text))
      throw new Error(`--${name} must be a positive whole number, not "${text}"`);
    return [name, Number(text)];
  });
  return Object.fromEntries(numbers);
}

async function main(): Promise<void> {
  const chosen = settings();
  print(`measuring the webhook, ${chosen.rate} requests/s for ${chosen.trials} x ${chosen.seconds} s ...`);
  const webhook = await benchWebhook(chosen);
  const { policy, client } = await policiesIfPossible(chosen.creates);
  const result = rounded({ webhook, policy, client });
  process.stdout.write(`${options.json ? JSON.stringify(result) : JSON.stringify(result, null, 2)}\n`);
}

/** Rounds to three decimals, which are microseconds. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_key, member) =>
      typeof member === 'number' ? Math.round(member * 1000) / 1000 : member,
    ),
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
