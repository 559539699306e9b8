/**
 * Validates a resource and reports all mistakes at once. The rules of the schema come from the CRD; the other files
 * validate-*.ts have those that the CRD has in CEL, in the same words, and those that only rendering can check.
 */
import { configMapFiles } from './config-maps';
import { type ClusterContext, contextOf } from './context';
import type { MiniClusterResource } from './resource';
import { SPEC_SCHEMA } from './schema';
import { clusterIssues } from './validate-cluster';
import { containerIssues } from './validate-container';
import { derivedNameIssues, nameIssues } from './validate-names';
import { schemaCheck } from './validate-schema';
import type { ValidationIssue } from './validation-issue';

/** Returns every mistake; without any, the resource can be rendered and the apiserver accepts its manifests. */
export function validateMiniCluster(resource: MiniClusterResource): readonly ValidationIssue[] {
  return validateContext(resource).issues;
}

export interface ValidationResult {
  readonly issues: readonly ValidationIssue[];
  /** The context that the rules were checked in; undefined if the resource cannot be read. */
  readonly context?: ClusterContext;
}

export function validateContext(resource: MiniClusterResource): ValidationResult {
  const bySchema = schemaIssues(resource);
  // The other rules read fields and rely on their types.
  if (bySchema.some(({ unreadable }) => unreadable)) return { issues: bySchema };
  const context = contextOf(resource);
  const crossField = crossFieldIssues(context);
  if (bySchema.length === 0) return { issues: crossField, context };
  // A field that the schema refuses needs no second reason.
  const refused = new Set(bySchema.map(({ path }) => path));
  return { issues: [...bySchema, ...crossField.filter(({ path }) => !refused.has(path))], context };
}

const specSchemaIssues = schemaCheck(SPEC_SCHEMA);

/** Mistakes of single fields. */
function schemaIssues(resource: MiniClusterResource): ValidationIssue[] {
  return [...nameIssues(resource), ...specSchemaIssues(resource.spec, 'spec')];
}

/** Mistakes in how fields are combined. */
function crossFieldIssues(context: ClusterContext): ValidationIssue[] {
  const { containers, services = [] } = context.spec;
  return [
    clusterIssues(context),
    containers.flatMap((container, index) => containerIssues(container, `spec.containers[${index}]`)),
    services.flatMap((container, index) => containerIssues(container, `spec.services[${index}]`)),
    derivedNameIssues(context),
    configMapSizeIssues(context),
  ].flat();
}

/** Size of an object that etcd accepts. */
const MAX_BYTES = 1024 * 1024;
/** Texts of users below this length never make files above MAX_BYTES, so nothing needs to be rendered. */
const UNCHECKED_LENGTH = MAX_BYTES / 8;

function configMapSizeIssues(context: ClusterContext): ValidationIssue[] {
  if (textLength(context) < UNCHECKED_LENGTH) return [];
  return configMapFiles(context).flatMap(({ name, data }) => {
    const bytes = Buffer.byteLength(Object.values(data).join(''));
    if (bytes <= MAX_BYTES) return [];
    const message = `has more text than the ConfigMap ${name} can hold, which is 1 MiB`;
    const remedy = 'put long scripts into a separate ConfigMap and mount it as a volume';
    return [{ path: 'spec', message, value: bytes, remedy }];
  });
}

/** Length of the texts of users that files are made of. */
function textLength({ spec: { containers, flux } }: ClusterContext): number {
  let length = (flux.brokerConfig ?? '').length;
  for (const text of Object.values(flux.environment ?? {})) length += text.length;
  for (const { command = '', commands = {} } of containers) {
    length += command.length;
    for (const text of Object.values(commands)) length += text.length;
  }
  return length;
}
