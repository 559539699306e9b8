/** Types of the admission protocol: AdmissionReview v1 as input, a verdict with JSON patches (RFC 6902) as output. */
import type { JsonPatch } from '../kubernetes/json-patch';

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

export interface Verdict {
  readonly allowed: boolean;
  readonly patch: readonly JsonPatch[];
  /** The reason of a denial, one sentence that begins with the error code. */
  readonly message?: string;
}

export interface Metadata {
  /** Absent in a CREATE with generateName. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
    readonly controller?: boolean;
  }[];
}
