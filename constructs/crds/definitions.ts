/** The CRDs of this version, for readers without an apiserver. */
import definitions from '../../imports/crds.json';

/** The part of a JSON schema that says which fields there are. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly items?: FieldSchema;
  readonly additionalProperties?: FieldSchema | boolean;
}

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly schema?: { readonly openAPIV3Schema?: FieldSchema };
  }[];
}

export interface CrdDefinition {
  readonly metadata: { readonly name: string };
  readonly spec: CrdSpec;
}

export const CRD_DEFINITIONS: readonly CrdDefinition[] = Object.values(
  definitions as unknown as Readonly<Record<string, CrdDefinition>>,
);
