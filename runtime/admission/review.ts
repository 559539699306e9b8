/** Types of the admission protocol: AdmissionReview v1 as input, a verdict with JSON patches (RFC 6902) as output. */
import { pointerToken } from '../../constructs/api/json-pointer';

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly subResource?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly namespace?: string;
  readonly userInfo?: { readonly username?: string };
  /** The object after the apiserver has decoded and defaulted it and dropped unknown fields of built-in kinds. */
  readonly object?: unknown;
  /** The object before an UPDATE. */
  readonly oldObject?: unknown;
}

/** The operations that admission uses. RFC 6902 `add` also replaces a member of an object. */
export type JsonPatch =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

export interface Verdict {
  readonly allowed: boolean;
  readonly patch: readonly JsonPatch[];
  /** The reason of a denial, one sentence that begins with the error code. */
  readonly message?: string;
}

export interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly controller?: boolean;
  }[];
}

/** Sets labels, and creates the map of labels if the object has none. */
export function addLabels(
  metadata: Metadata | undefined,
  labels: Readonly<Record<string, string>>,
): JsonPatch[] {
  if (metadata?.labels === undefined) return [{ op: 'add', path: '/metadata/labels', value: labels }];
  return Object.entries(labels)
    .filter(([key, value]) => metadata.labels?.[key] !== value)
    .map(([key, value]) => ({ op: 'add', path: `/metadata/labels/${pointerToken(key)}`, value }));
}
