/** The values of the chart: their defaults, what they may be, and one sentence each. */
import { DEFAULT_IMAGES } from '../../constructs/images';

/** A part of a JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Value {
  /** Path in values.yaml, e.g. `database.storage`. */
  readonly path: string;
  readonly initial: unknown;
  readonly schema: Schema;
  readonly says: string;
}

const BOOLEAN: Schema = { type: 'boolean' };
const TEXT: Schema = { type: 'string' };
const IMAGE: Schema = { type: 'string', minLength: 1 };
const COUNT: Schema = { type: 'integer', minimum: 1 };
const OBJECTS: Schema = { type: 'array', items: { type: 'object' } };
/** Words that YAML reads as something else than a text. */
const NO_TEXT = ['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'];
const NAME: Schema = {
  type: 'string',
  pattern: '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$',
  not: { enum: NO_TEXT },
};
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });

const value = (path: string, initial: unknown, schema: Schema, says: string): Value => ({
  path,
  initial,
  schema,
  says,
});

/** All values but those of pods, whose defaults are in the manifests. */
export const VALUES: readonly Value[] = [
  value('namespace', 'fluxqueue-system', NAME, 'Namespace of the stack, not that of the release.'),
  value('createNamespace', true, BOOLEAN, 'Whether the release has the namespace of the stack.'),
  value(
    'admission',
    'webhook',
    oneOf('webhook', 'policies', 'both'),
    'Form of admission: a webhook, or CEL policies (Kubernetes 1.36 or newer); both while it changes.',
  ),
  value('clusterWide', false, BOOLEAN, 'Whether all namespaces are enabled, not only labelled ones.'),
  value('miniClusters', true, BOOLEAN, 'Whether the stack creates MiniClusters.'),
  value('readApi', true, BOOLEAN, 'Whether the stack answers questions of users by an APIService.'),
  value('networkPolicies', true, BOOLEAN, 'Whether NetworkPolicies deny all other connections.'),
  value('flowSchemas', true, BOOLEAN, 'Whether requests of the stack have priority at the apiserver.'),
  value(
    'monitoringNamespace',
    '',
    TEXT,
    'Namespace whose pods can read the metrics; empty: metrics are on loopback.',
  ),
  value(
    'logLevel',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    'Log level of the runtime.',
  ),
  value('images.runtime', DEFAULT_IMAGES.runtime, IMAGE, 'Image of the runtime.'),
  value('images.fluxion', DEFAULT_IMAGES.runtime, IMAGE, 'Image of the Fluxion sidecar.'),
  value('images.postgres', DEFAULT_IMAGES.postgres, IMAGE, "Image of the stack's own Postgres."),
  value('images.pullSecrets', [], OBJECTS, 'Secrets for pulling the images, as objects with a name.'),
  value(
    'database.kind',
    'statefulSet',
    oneOf('statefulSet', 'secret', 'cloudNativePg'),
    "Postgres of the stack, an existing one whose URL is in a Secret, or the operator's.",
  ),
  value('database.storage', '10Gi', { type: 'string', minLength: 1 }, 'Size of the volume.'),
  value('database.storageClassName', '', TEXT, 'StorageClass of the volume; empty: the default one.'),
  value('database.secret.name', 'fluxqueue-db', NAME, 'Secret with the URL, and with the CA in ca.crt.'),
  value('database.secret.key', 'url', { type: 'string', minLength: 1 }, 'Key of the URL in that Secret.'),
  value('database.secret.port', 5432, COUNT, 'Port of the existing Postgres.'),
  value('queue.enabled', true, BOOLEAN, 'Whether the stack has a queue of its own.'),
  value('queue.name', 'default', NAME, "Name of the stack's own queue."),
  value(
    'queue.policy',
    'easy',
    oneOf('easy', 'hybrid', 'fcfs', 'conservative'),
    'Which pending workloads can start before earlier ones.',
  ),
  value('queue.depth', 10000, COUNT, 'Number of pending workloads that a pass considers.'),
  value('queue.defaultWalltimeSeconds', 3600, COUNT, 'Walltime of workloads that request none.'),
  value('queue.maxWalltimeSeconds', 604800, COUNT, 'Maximum walltime.'),
  value('queue.retentionDays', 30, COUNT, 'Days for which finished workloads stay in the tables.'),
  value('queue.archiveDays', 365, COUNT, 'Days for which they stay in the archive.'),
  value(
    'queue.recordsPerHour',
    1000,
    COUNT,
    'Records that a namespace keeps of the workloads that end in the same hour.',
  ),
  value(
    'fluxJobs.policy',
    'Notable',
    oneOf('Notable', 'All'),
    'Whether what waits in line and succeeds soon in a burst has a FluxJob.',
  ),
  value('fairShare.enabled', false, BOOLEAN, 'Whether queues and users that used less start first.'),
];

/** Settings in the ConfigMap that a value of the same path sets. */
export const CONFIGURED = [
  'logLevel',
  'queue.enabled',
  'queue.name',
  'queue.policy',
  'queue.depth',
  'queue.defaultWalltimeSeconds',
  'queue.maxWalltimeSeconds',
  'queue.retentionDays',
  'queue.archiveDays',
  'queue.recordsPerHour',
  'database.storage',
  'fluxJobs.policy',
  'fairShare.enabled',
] as const;

/** JSON schema of the values: Helm refuses what it does not know. */
export function valuesSchema(values: readonly Value[]): Schema {
  const root = object();
  for (const { path, schema, says } of values) {
    const parts = path.split('.');
    let at = root;
    for (const part of parts.slice(0, -1)) {
      at.properties[part] ??= object();
      at = at.properties[part] as typeof root;
    }
    at.properties[parts.at(-1)!] = { ...schema, description: says };
  }
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...root };
}

function object(): { type: string; additionalProperties: boolean; properties: Record<string, unknown> } {
  return { type: 'object', additionalProperties: false, properties: {} };
}

/** values.yaml: each value below its sentence. */
export function valuesFile(values: readonly Value[]): string {
  const lines: string[] = ['# Values of the chart. `helm show values`; docs/helm.md says what each means.'];
  let before: readonly string[] = [];
  for (const { path, initial, says } of values) {
    const parts = path.split('.');
    const same = parts.findIndex((part, index) => part !== before[index]);
    for (const [index, part] of parts.entries()) {
      if (index < same) continue;
      const indent = '  '.repeat(index);
      if (index < parts.length - 1) lines.push(`${indent}${part}:`);
      else lines.push(`${indent}# ${says}`, `${indent}${part}: ${JSON.stringify(initial)}`);
    }
    before = parts;
  }
  return `${lines.join('\n')}\n`;
}
