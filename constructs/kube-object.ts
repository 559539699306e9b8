import { ApiObject, type GroupVersionKind, JsonPatch } from 'cdk8s';
import type { Construct } from 'constructs';
import { CodedError } from './api/errors';

/** A class that cdk8s generated from a schema, e.g. `k8s.KubeDeployment`. */
interface GeneratedKind<Props> {
  readonly GVK: GroupVersionKind;
  manifest(props: Props): unknown;
}

/**
 * An object of a generated kind whose patches win. The generated classes patch first and convert to Kubernetes' form then,
 * and the conversion drops what it does not know: the plain value of a quantity, or a field newer than the schema. Here
 * patches apply to the manifest as it is written.
 */
export class KubeObject<Props extends object> extends ApiObject {
  private readonly overrides: JsonPatch[] = [];

  constructor(
    scope: Construct,
    id: string,
    private readonly generated: GeneratedKind<Props>,
    props: Props,
  ) {
    super(scope, id, { ...generated.GVK, ...props });
  }

  override addJsonPatch(...patches: JsonPatch[]): void {
    this.overrides.push(...patches);
  }

  override toJson(): unknown {
    const manifest = this.generated.manifest(super.toJson());
    try {
      return JsonPatch.apply(manifest, ...this.overrides);
    } catch (error) {
      throw new CodedError('FLUXQ_PROPS_INVALID', 'a JSON patch does not fit the object', {
        field: `${this.kind} ${this.name} (${this.node.path})`,
        remedy: 'print the object with toJson(), and correct the path of the patch',
        cause: error,
      });
    }
  }
}
