import { ApiObject, ApiObjectMetadataDefinition, Chart, JsonPatch, type OwnerReference } from 'cdk8s';
import { Construct } from 'constructs';
import { PropsError } from '../errors';
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../names';
import { partsProblems, shapeProblems } from './check';
import { type Parts, takeApart } from './parts';
import { type Problem, problemLine } from './problem';
import type { MiniClusterProps } from './props';
import { specOf } from './props-to-spec';
import { renderParts } from './render';
import type { ManifestObject, MiniClusterResource } from './resource';

/**
 * A Flux instance whose brokers are the pods of one Job: what the resource
 * MiniCluster is, as a construct. Same fields, same checks, same manifests.
 *
 * @throws PropsError that lists everything that is wrong
 */
export class MiniCluster extends Construct {
  /** Name of the Job, and of the pods' hosts: NAME-0, NAME-1, ... */
  readonly name: string;
  /** The same as a resource. */
  readonly resource: MiniClusterResource;

  constructor(scope: Construct, id: string, props: MiniClusterProps) {
    super(scope, id);
    this.name = props.name ?? id;
    const chart = Chart.of(this);
    const namespace = props.namespace ?? chart.namespace;
    this.resource = {
      metadata: { name: this.name, ...(namespace === undefined ? {} : { namespace }) },
      spec: specOf(props),
    };
    const parts = checked(this.resource, this.node.path);
    const { keygen } = props.certificate ?? {};
    const manifests =
      props.live === true
        ? [asManifest(this.resource)]
        : renderParts(parts, keygen === undefined ? {} : { keygen });
    for (const manifest of labelled(manifests, chart.labels))
      new Manifest(this, idOf(manifest, this.name), manifest);
  }
}

/** A manifest as it was rendered: cdk8s would walk through each once more to resolve tokens that are not there. */
class Manifest extends ApiObject {
  override readonly metadata: NotedMetadata;
  private later: readonly JsonPatch[] = NO_PATCHES;

  constructor(
    scope: Construct,
    id: string,
    private readonly manifest: ManifestObject,
  ) {
    super(scope, id, {
      apiVersion: manifest.apiVersion,
      kind: manifest.kind,
      metadata: { name: manifest.metadata.name },
    });
    this.metadata = new NotedMetadata({ ...manifest.metadata, apiObject: this });
  }

  override addJsonPatch(...patches: JsonPatch[]): void {
    this.later = [...this.later, ...patches];
  }

  override toJson(): ManifestObject {
    const { manifest, metadata, later } = this;
    const noted = metadata.changed ? { ...manifest, metadata: metadata.toJson() } : manifest;
    // Patches change what they are given, and parts of it belong to all clusters.
    return later.length === 0 ? noted : JsonPatch.apply(structuredClone(noted), ...later);
  }
}

const NO_PATCHES: readonly JsonPatch[] = [];

/** Knows whether someone changed it after the manifest was rendered. */
class NotedMetadata extends ApiObjectMetadataDefinition {
  changed = false;

  override add(key: string, value: unknown): void {
    this.changed = true;
    super.add(key, value);
  }

  override addLabel(key: string, value: string): void {
    this.changed = true;
    super.addLabel(key, value);
  }

  override addAnnotation(key: string, value: string): void {
    this.changed = true;
    super.addAnnotation(key, value);
  }

  override addFinalizers(...finalizers: string[]): void {
    this.changed = true;
    super.addFinalizers(...finalizers);
  }

  override addOwnerReference(owner: OwnerReference): void {
    this.changed = true;
    super.addOwnerReference(owner);
  }
}

/**
 * Without the cluster's name, which is in the path already: equal ids in all clusters
 * share one hidden class, and a chart of thousands is made in a fraction of the time.
 */
function idOf({ kind, metadata: { name } }: ManifestObject, cluster: string): string {
  return name.startsWith(cluster) ? `${kind}${name.slice(cluster.length)}` : `${kind}:${name}`;
}

/** With the chart's labels, as every object of a chart has them. */
function labelled(
  manifests: readonly ManifestObject[],
  labels: Readonly<Record<string, string>>,
): readonly ManifestObject[] {
  if (Object.keys(labels).length === 0) return manifests;
  return manifests.map((manifest) => ({
    ...manifest,
    metadata: { ...manifest.metadata, labels: { ...labels, ...manifest.metadata.labels } },
  }));
}

function asManifest({ metadata, spec }: MiniClusterResource): ManifestObject {
  return {
    apiVersion: `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`,
    kind: 'MiniCluster',
    metadata: { ...metadata, labels: {} },
    spec,
  };
}

/** Taken apart once, for the checks and for rendering. */
function checked(resource: MiniClusterResource, path: string): Parts {
  refuse(shapeProblems(resource), path);
  const parts = takeApart(resource);
  refuse(partsProblems(parts), path);
  return parts;
}

function refuse(problems: readonly Problem[], path: string): void {
  if (problems.length === 0) return;
  throw new PropsError(
    `MiniCluster ${path}`,
    `${problems.map(problemLine).join('\n  ')}\n `,
    problems.length,
    'correct each of them; docs/minicluster-fields.md has the prop of every field',
  );
}
