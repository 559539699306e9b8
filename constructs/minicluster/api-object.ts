import { isDeepStrictEqual } from 'node:util';
import { ApiObject, ApiObjectMetadataDefinition, Chart, JsonPatch } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import type { LazyManifest } from './manifest';
import type { ManifestObject } from './resource';

/** cdk8s recognizes the objects of a chart by this symbol (`ApiObject.isApiObject`), whatever their class is. */
const API_OBJECT = Symbol.for('cdk8s.ApiObject');

const NO_PATCHES: readonly JsonPatch[] = [];

/**
 * An object of a MiniCluster, which behaves like an ApiObject of cdk8s. ApiObject itself is not used because it creates
 * metadata for every object and walks through every manifest to resolve tokens, of which there are none here.
 */
export class LazyApiObject extends Construct implements Pick<ApiObject, keyof ApiObject> {
  private patches: readonly JsonPatch[] = NO_PATCHES;
  private definition: ApiObjectMetadataDefinition | undefined;

  constructor(
    scope: Construct,
    id: string,
    private manifest: LazyManifest,
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

  /** Labels, annotations and other metadata, which callers may change. */
  get metadata(): ApiObjectMetadataDefinition {
    this.definition ??= new ApiObjectMetadataDefinition({
      ...this.manifest.metadata,
      apiObject: ApiObject.of(this),
    });
    return this.definition;
  }

  addDependency(...dependencies: IConstruct[]): void {
    this.node.addDependency(...dependencies);
  }

  addJsonPatch(...patches: JsonPatch[]): void {
    this.patches = [...this.patches, ...patches];
  }

  /** Replaces the content of the object after its MiniCluster changed; metadata that callers changed and patches stay. */
  update(manifest: LazyManifest): void {
    this.manifest = manifest;
  }

  toJson(): ManifestObject {
    const produced = this.manifest.produce();
    const metadata = this.definition?.toJson() ?? produced.metadata;
    // A caller that only read the metadata must not change the order of its keys.
    const object = isDeepStrictEqual(metadata, produced.metadata) ? produced : { ...produced, metadata };
    // Patches modify the object that they are applied to, and all clusters share parts of it.
    return this.patches.length === 0 ? object : JsonPatch.apply(structuredClone(object), ...this.patches);
  }
}
