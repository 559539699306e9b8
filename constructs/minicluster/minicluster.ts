import { isDeepStrictEqual } from 'node:util';
import { ApiObject, ApiObjectMetadataDefinition, Chart, JsonPatch } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import { PropsError } from '../api/errors';
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../api/labels';
import type { Parts } from './context';
import type { MiniClusterProps } from './props';
import { specOf } from './props-to-spec';
import { renderParts } from './render';
import type { ManifestObject, MiniClusterResource } from './resource';
import { examine } from './validate';
import { problemLine } from './validation-issue';

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

/** By this cdk8s knows the objects of a chart (`ApiObject.isApiObject`), of whatever class they are. */
const API_OBJECT = Symbol.for('cdk8s.ApiObject');

/**
 * A manifest as it was rendered, in the place of cdk8s' own ApiObject: that would make
 * metadata of every object anew, and walk through it to resolve tokens that are not there.
 */
class Manifest extends Construct implements Pick<ApiObject, keyof ApiObject> {
  private patches: readonly JsonPatch[] = NO_PATCHES;
  private noted: ApiObjectMetadataDefinition | undefined;

  constructor(
    scope: Construct,
    id: string,
    private readonly manifest: ManifestObject,
  ) {
    super(scope, id);
  }

  get [API_OBJECT](): boolean {
    return true;
  }

  get apiVersion(): string {
    return this.manifest.apiVersion;
  }

  get apiGroup(): string {
    const [group, version] = this.apiVersion.split('/');
    return version === undefined ? 'core' : group!;
  }

  get kind(): string {
    return this.manifest.kind;
  }

  get name(): string {
    return this.manifest.metadata.name;
  }

  get chart(): Chart {
    return Chart.of(this);
  }

  /** Who asks for it may change it. */
  get metadata(): ApiObjectMetadataDefinition {
    this.noted ??= new ApiObjectMetadataDefinition({
      ...this.manifest.metadata,
      apiObject: ApiObject.of(this),
    });
    return this.noted;
  }

  addDependency(...dependencies: IConstruct[]): void {
    this.node.addDependency(...dependencies);
  }

  addJsonPatch(...patches: JsonPatch[]): void {
    this.patches = [...this.patches, ...patches];
  }

  toJson(): ManifestObject {
    const { manifest, patches } = this;
    const metadata = this.noted?.toJson() ?? manifest.metadata;
    // Who only looked at it changes nothing, not even the order.
    const whole = isDeepStrictEqual(metadata, manifest.metadata) ? manifest : { ...manifest, metadata };
    // Patches change what they are given, and parts of it belong to all clusters.
    return patches.length === 0 ? whole : JsonPatch.apply(structuredClone(whole), ...patches);
  }
}

const NO_PATCHES: readonly JsonPatch[] = [];

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
    metadata,
    spec,
  };
}

/** Taken apart once, for the checks and for rendering. */
function checked(resource: MiniClusterResource, path: string): Parts {
  const { problems, parts } = examine(resource);
  if (parts !== undefined && problems.length === 0) return parts;
  throw new PropsError(
    `MiniCluster ${path}`,
    `${problems.map(problemLine).join('\n  ')}\n `,
    problems.length,
    'correct each of them; docs/minicluster-fields.md has the prop of every field',
  );
}
