/**
 * The configuration of all roles: defaults, then a YAML file, then environment variables. Invalid values are refused with
 * one sentence each; what this version does not know is reported and left out (unknown-settings.ts).
 *
 * The variable of a setting is FLUXQUEUE_ and its path in the file, with the same spelling: FLUXQUEUE_http_port. In a pod
 * with service links the kubelet sets variables in capital letters for every Service of the namespace, and anybody may
 * name a Service: FLUXQUEUE_HTTP_PORT=tcp://10.0.0.7:80 for a Service fluxqueue-http. A name with a lower-case letter is
 * never one of those.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { CONTROLLER_LEASE, STACK_NAMESPACE } from '../constructs/api/labels';
import { FLUXJOB_POLICIES, HISTORY_POLICIES, MATCH_POLICIES } from '../constructs/api/policies';
import { STACK_DEFAULTS } from '../constructs/api/queue-defaults';
import { WORKLOAD_KIND_NAMES } from '../constructs/api/workload-kinds';
import { databaseSettings } from './database-settings';
import { FluxqError, messageOf } from './errors';
import { LOG_LEVELS } from './observability/log';
import { reportSettings } from './report-settings';
import { readerSettings, webhookSettings } from './server-settings';
import { stackQueueSettings } from './stack-queue-settings';
import { parseKnown } from './unknown-settings';

const port = z.number().int().min(0).max(65535);
const positive = z.number().int().positive();

const settings = z.strictObject({
  logLevel: z.enum(LOG_LEVELS).default('info'),
  /** Probes over plain HTTP. An empty host, here and below: all addresses, of IPv6 and of IPv4. */
  http: z.strictObject({ host: z.string().default(''), port: port.default(8080) }).prefault({}),
  /** Metrics over plain HTTP without authentication: loopback, unless a network policy protects the port. */
  metrics: z.strictObject({ host: z.string().default('127.0.0.1'), port: port.default(9464) }).prefault({}),
  kubernetes: z
    .strictObject({
      /** The path of a kubeconfig. Default: KUBECONFIG, ~/.kube/config, or the ServiceAccount of the pod. */
      kubeconfig: z.string().min(1).optional(),
      context: z.string().min(1).optional(),
    })
    .prefault({}),
  database: databaseSettings.prefault({}),
  /** The namespaces to which admission applies: what waits in any other one is handed back to Kubernetes. */
  namespaces: z
    .strictObject({
      /** Whether each namespace is enabled that has no label `fluxqueue/enabled: "false"`. Default: those with `"true"` are. */
      clusterWide: z.boolean().default(false),
      /** Namespaces that are never enabled. */
      excluded: z.array(z.string().min(1)).default(['kube-system', STACK_NAMESPACE]),
    })
    .prefault({}),
  leaderElection: z
    .strictObject({
      namespace: z.string().min(1).default(STACK_NAMESPACE),
      name: z.string().min(1).default(CONTROLLER_LEASE),
      leaseDurationSeconds: positive.default(15),
      renewDeadlineSeconds: positive.default(10),
      /** Seconds between two renewals, and between two attempts of a replica that waits for a released lease. */
      retryPeriodSeconds: positive.default(1),
      /** The UID of the pod. With it a restarted container does not wait for the lease of its last process. */
      podUid: z.string().min(1).optional(),
    })
    .prefault({}),
  fluxion: z
    .strictObject({
      /** The address of the Fluxion service: `unix:/path` or `host:port`; `embedded` runs the matcher in the controller. */
      address: z.string().min(1).default('embedded'),
      /** The address on which the fluxion role listens. */
      listen: z.string().min(1).default('unix:/run/fluxion/fluxion.sock'),
      /** What answers in the fluxion role. The controller reads it too: only the embedded matcher has small units by default. */
      engine: z.enum(['auto', 'embedded', 'library']).default('auto'),
      /** The path of libreapi_cli.so. */
      library: z.string().min(1).optional(),
      policy: z.enum(MATCH_POLICIES).default(STACK_DEFAULTS.matchPolicy),
    })
    .prefault({}),
  queue: stackQueueSettings.prefault({}),
  /** Whether the usage of queues and users is a factor of the order (`queue.priorityWeights`). */
  fairShare: z
    .strictObject({
      enabled: z.boolean().default(false),
      /** The time after which past usage counts half. */
      halfLifeSeconds: positive.default(STACK_DEFAULTS.halfLifeSeconds),
    })
    .prefault({}),
  /** Whether workloads that start and succeed quickly in a burst of their namespace have a FluxJob. */
  fluxJobs: z
    .strictObject({ policy: z.enum(FLUXJOB_POLICIES).default(STACK_DEFAULTS.fluxJobs) })
    .prefault({}),
  /** While the queue changes more often than this, the apiserver has more urgent work than statuses. A workload changes four times. */
  statuses: z
    .strictObject({
      /** Changes of rows in a second beyond which the queue is busy: what lasts for a few seconds only is not written. */
      busyPerSecond: z.number().min(0).default(5),
      /** Changes in a second, of a namespace for some seconds, beyond which it is in a burst (see `fluxJobs`); 0: always. */
      burstPerSecond: z.number().min(0).default(40),
    })
    .prefault({}),
  /** The workload kinds that admission holds by a field of their own. */
  workloads: z
    .strictObject({ kinds: z.array(z.enum(WORKLOAD_KIND_NAMES)).default([...WORKLOAD_KIND_NAMES]) })
    .prefault({}),
  /** Seconds between two comparisons of the database with the apiserver and Fluxion. */
  audit: z.strictObject({ intervalSeconds: positive.default(300) }).prefault({}),
  /** A workload whose pods do not run although it was granted is requeued after these times. */
  grants: z
    .strictObject({
      /** kube-scheduler refuses a pod, or the Job controller cannot create it. */
      unschedulableSeconds: positive.default(STACK_DEFAULTS.grants.unschedulableSeconds),
      /** A pod waits for volumes that kube-scheduler binds with it. */
      volumeSeconds: positive.default(STACK_DEFAULTS.grants.volumeSeconds),
      /** A pod is bound to its node, and its containers do not start: image pulls, mounts, missing Secrets. */
      startSeconds: positive.default(STACK_DEFAULTS.grants.startSeconds),
      /** From the first pod of a group on until it should be complete. */
      groupSeconds: positive.default(STACK_DEFAULTS.grants.groupSeconds),
      /** The time for which the workload is not granted the nodes on which its pods did not run. */
      avoidSeconds: positive.default(STACK_DEFAULTS.grants.avoidSeconds),
    })
    .prefault({}),
  /** The sizes of one core unit and one memory unit of the graph. Default: fine for the embedded matcher, else coarse. */
  units: z.strictObject({ cpuMillis: positive.optional(), memoryMiB: positive.optional() }).prefault({}),
  /** Whether the controller creates the objects of MiniClusters; without it, it needs no rights on them. */
  miniClusters: z
    .strictObject({ enabled: z.boolean().default(true), reports: reportSettings.prefault({}) })
    .prefault({}),
  webhook: webhookSettings.prefault({}),
  /** The server of the read API. */
  reader: readerSettings.prefault({}),
});

const schema = settings.transform((given) => {
  const { units, libraryUnits } = STACK_DEFAULTS;
  const { address, engine } = given.fluxion;
  const isEmbedded = address === 'embedded' || engine === 'embedded';
  const { cpuMillis, memoryMiB } = isEmbedded ? units : libraryUnits;
  return {
    ...given,
    units: {
      cpuMillis: given.units.cpuMillis ?? cpuMillis,
      memoryMiB: given.units.memoryMiB ?? memoryMiB,
    },
  };
});

export type Config = z.output<typeof schema>;
/** @internal exported for tests */
export type ConfigInput = z.input<typeof schema>;

/** The paths of the settings that have an environment variable. */
const FROM_ENVIRONMENT = [
  'logLevel',
  'http.host',
  'http.port',
  'metrics.port',
  'kubernetes.context',
  'kubernetes.kubeconfig',
  'database.ca',
  'database.secret.namespace',
  'database.secret.name',
  'database.secret.key',
  'database.secret.caName',
  'leaderElection.podUid',
  'fluxion.address',
  'fluxion.listen',
  'fluxion.library',
  'fluxion.policy',
  'queue.policy',
  'webhook.port',
  'reader.port',
] as const;

const PREFIX = 'FLUXQUEUE_';

/** The path that each variable sets. DATABASE_URL is a common name, and no variable of a Service ends like it. */
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ['DATABASE_URL', 'database.url'],
  ...FROM_ENVIRONMENT.map((path) => [`${PREFIX}${path.replaceAll('.', '_')}`, path] as const),
]);

/** Every variable that sets a setting. @internal exported for tests */
export const ENVIRONMENT_VARIABLES: readonly string[] = [...VARIABLES.keys()];

/** Takes one sentence about what a configuration has and this version ignores. */
type Warn = (sentence: string) => void;

/**
 * @param file path of a YAML file. @default - only defaults and environment variables
 * @param warn takes a sentence for each unknown setting or variable. @default - they are ignored silently
 * @throws FluxqError FLUXQ_CONFIG_UNREADABLE, FLUXQ_CONFIG_INVALID
 */
export function loadConfig(
  file?: string,
  environment: NodeJS.ProcessEnv = process.env,
  warn: Warn = () => {},
): Config {
  const document = file === undefined ? {} : readDocument(file);
  for (const name of unknownVariables(environment))
    warn(`the environment variable ${name} is not known to this version and is ignored`);
  const { given, variables } = withEnvironment(document, environment);
  const source = (path: string) => {
    const variable = variables.get(path);
    return variable === undefined ? (file ?? 'the environment') : `the environment variable ${variable}`;
  };
  return parseConfig(given, source, warn);
}

/**
 * The URL of the database, or the key of the Secret that has it. Only some roles need it.
 * @throws FluxqError FLUXQ_CONFIG_INVALID if neither is set
 */
export function databaseSource({ database: { url, ca, secret } }: Config) {
  if (url !== undefined) return { url, ...(ca === undefined ? {} : { ca }) };
  if (secret !== undefined) return secret;
  throw new FluxqError('FLUXQ_CONFIG_INVALID', 'is missing', {
    field: 'database.url',
    remedy: 'set DATABASE_URL, or database.secret to the key of a Secret',
  });
}

/** Validates a configuration object. @param source the place where a path was set, for errors and warnings */
export function parseConfig(
  given: unknown,
  source: (path: string) => string = () => 'the configuration',
  warn: Warn = () => {},
): Config {
  const { result, unknown } = parseKnown(schema, given);
  for (const path of unknown)
    warn(`the setting ${path} in ${source(path)} is not known to this version and is ignored`);
  if (result.success) return checkPolicy(checkElection(result.data));
  const issue = result.error.issues[0]!;
  const path = issue.path.join('.');
  throw new FluxqError('FLUXQ_CONFIG_INVALID', issue.message, {
    field: path === '' ? 'configuration' : path,
    value: path.includes('url') ? undefined : valueAt(given, issue.path),
    remedy: `correct it in ${source(path)}`,
  });
}

function checkElection(config: Config): Config {
  const { leaseDurationSeconds, renewDeadlineSeconds, retryPeriodSeconds } = config.leaderElection;
  if (renewDeadlineSeconds < leaseDurationSeconds && retryPeriodSeconds < renewDeadlineSeconds) return config;
  throw new FluxqError(
    'FLUXQ_CONFIG_INVALID',
    'needs retryPeriodSeconds < renewDeadlineSeconds < leaseDurationSeconds',
    { field: 'leaderElection', value: config.leaderElection, remedy: 'change the three numbers' },
  );
}

function checkPolicy(config: Config): Config {
  const { engine, policy } = config.fluxion;
  if (engine !== 'library' || !HISTORY_POLICIES.includes(policy)) return config;
  throw new FluxqError(
    'FLUXQ_CONFIG_INVALID',
    "chooses by earlier grants, which flux-sched's library does not keep when time moves",
    { field: 'fluxion.policy', value: policy, remedy: 'choose another policy, or engine: embedded' },
  );
}

function readDocument(file: string): Record<string, unknown> {
  const fail = (why: string, cause?: unknown) =>
    new FluxqError('FLUXQ_CONFIG_UNREADABLE', why, {
      field: file,
      remedy: 'give a readable YAML file with --config',
      cause,
    });
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    throw fail(messageOf(error).split('\n')[0]!, error);
  }
  if (!isRecord(document)) throw fail('must be a YAML mapping');
  return document;
}

/** Variables that set nothing. One in capital letters may belong to a Service. */
function unknownVariables(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && /[a-z]/.test(name) && !VARIABLES.has(name),
  );
}

/** @returns the document with the settings of the environment, and the variable that set each path */
function withEnvironment(document: Record<string, unknown>, environment: NodeJS.ProcessEnv) {
  const given = structuredClone(document);
  const variables = new Map<string, string>();
  for (const [variable, path] of VARIABLES) {
    const text = environment[variable];
    if (text === undefined || text === '') continue;
    variables.set(path, variable);
    const keys = path.split('.');
    const key = keys.pop()!;
    const parent = keys.reduce<unknown>(childOf, given);
    // A section that is not a mapping is kept, so that the schema refuses it.
    if (isRecord(parent)) parent[key] = key === 'port' && /^\d+$/.test(text) ? Number(text) : text;
  }
  return { given, variables };
}

function childOf(parent: unknown, key: string): unknown {
  if (!isRecord(parent)) return parent;
  parent[key] ??= {};
  return parent[key];
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[String(key)] : undefined), given);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
