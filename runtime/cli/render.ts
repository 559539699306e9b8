/**
 * `fluxqueue render`: turns MiniClusters in YAML into their manifests, with the same code as the controller and the
 * construct.
 */
import { CERTIFICATE_KEY, MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../../constructs/api/labels';
import {
  formatIssue,
  type MiniClusterResource,
  objectNames,
  type RenderOptions,
  renderMiniCluster,
  staticReportIssues,
  type ValidationIssue,
  validateMiniCluster,
} from '../../constructs/minicluster/index';
import { FluxqError } from '../errors';
import { certificateProblem } from '../miniclusters/curve';
import { manifestYaml, valuesIn } from './manifest-yaml';

export interface RenderInput extends RenderOptions {
  /** YAML of one or more MiniClusters. */
  readonly text: string;
  /** The name of the input, for errors. */
  readonly source: string;
  /** @default - the namespace of the resource, or none */
  readonly namespace?: string;
}

export interface Rendered {
  /** Multi-document YAML. */
  readonly yaml: string;
  /** Hints for the user that are not part of the manifests. */
  readonly notes: readonly string[];
}

/** @throws FluxqError FLUXQ_RENDER_INPUT, FLUXQ_RENDER_SPEC with one line for each problem */
export function render(input: RenderInput): Rendered {
  const resources = resourcesIn(input);
  const problems = resources.flatMap((resource) =>
    problemsOf(resource).map((problem) => line(problem, resource, resources.length)),
  );
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    throw new FluxqError('FLUXQ_RENDER_SPEC', `has ${count}:\n  ${problems.join('\n  ')}`, {
      field: input.source,
    });
  }
  return {
    yaml: manifestYaml(resources.flatMap((resource) => renderMiniCluster(resource, input))),
    notes: resources.flatMap((resource) => notes(resource, input)),
  };
}

function problemsOf(resource: MiniClusterResource): readonly ValidationIssue[] {
  const problems = [...validateMiniCluster(resource), ...staticReportIssues(resource)];
  const certificate: unknown = resource.spec.flux?.curveCert;
  const message = typeof certificate === 'string' ? certificateProblem(certificate) : undefined;
  if (message === undefined) return problems;
  const remedy = 'give the text that "flux keygen" wrote, unchanged, or leave it out';
  return [...problems, { path: 'spec.flux.curveCert', message, value: undefined, remedy }];
}

function line(problem: ValidationIssue, { metadata }: MiniClusterResource, count: number): string {
  return count === 1 ? formatIssue(problem) : `${metadata.name}: ${formatIssue(problem)}`;
}

function notes(resource: MiniClusterResource, { keygen }: RenderInput): string[] {
  const { certificate } = objectNames(resource);
  const wanted = `Secret ${certificate} with the key ${CERTIFICATE_KEY}`;
  if (resource.spec.flux?.curveCert !== undefined)
    return [
      `${resource.metadata.name}: spec.flux.curveCert is secret and not printed; put it into ${wanted}`,
    ];
  if (keygen !== undefined || resource.spec.flux?.curveCertSecret !== undefined) return [];
  return [`${resource.metadata.name}: its pods wait for ${wanted} (create one with flux keygen or --keygen)`];
}

function resourcesIn({ text, source, namespace }: RenderInput): MiniClusterResource[] {
  const refused = (mistake: string) => badInput(source, `is not valid YAML: ${mistake}`);
  // Like the apiserver, null counts as not set.
  const values = valuesIn(text, refused, (_, each) => each ?? undefined);
  if (values.length === 0) throw badInput(source, 'is empty');
  // A document between two `---` may be empty.
  return values.flatMap((value, index) =>
    value === undefined
      ? []
      : [asResource(value, values.length === 1 ? source : `${source} (document ${index + 1})`, namespace)],
  );
}

interface Loose {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown };
  readonly spec?: unknown;
}

function asResource(value: unknown, source: string, namespace: string | undefined): MiniClusterResource {
  const { apiVersion, kind, metadata, spec } = (isMapping(value) ? value : {}) as Loose;
  const wanted = `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`;
  if (kind !== 'MiniCluster') throw badInput(source, 'is not a MiniCluster', kind ?? value);
  if (apiVersion !== wanted) throw badInput(source, `must have apiVersion ${wanted}`, apiVersion);
  if (!isMapping(metadata) || typeof metadata.name !== 'string')
    throw badInput(source, 'has no metadata.name', metadata?.name);
  if (!isMapping(spec)) throw badInput(source, 'has no spec', spec);
  const place = namespace ?? metadata.namespace;
  if (place !== undefined && typeof place !== 'string')
    throw badInput(source, 'has a metadata.namespace that is not a string', place);
  return {
    metadata: { name: metadata.name, ...(place === undefined ? {} : { namespace: place }) },
    spec: spec as unknown as MiniClusterResource['spec'],
  };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function badInput(field: string, what: string, value?: unknown): FluxqError {
  return new FluxqError('FLUXQ_RENDER_INPUT', what, {
    field,
    ...(value === undefined ? {} : { value }),
    remedy: `give MiniClusters of ${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION} in YAML`,
  });
}
