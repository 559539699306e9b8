/**
 * Words of this folder: a *resource* is a MiniCluster as users write it
 * (v1alpha2), a *manifest* one of the objects it is made of; *brokers* are the
 * pods of its Job, pod 0 is the *lead*, the others are *workers*; the *runner*
 * is the container that runs the broker, the others are *sidecars*.
 */
import type { MiniClusterSpec, MiniClusterSpecContainers } from '../../imports/flux-framework.org-spec';

export type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';

/** A container of the pod or of the services: both have the same fields. */
export type ContainerSpec = MiniClusterSpecContainers;

export interface MiniClusterResource {
  readonly metadata: {
    readonly name: string;
    /** @default - left to who applies it; brokers then find each other by short names */
    readonly namespace?: string;
    readonly uid?: string;
  };
  readonly spec: MiniClusterSpec;
}

/** A Kubernetes object as it is applied. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface RenderOptions {
  /**
   * A one-shot Job makes the certificate, for clusters without the runtime.
   * @default - the Secret is there already, or the runtime makes it
   */
  readonly keygen?: KeygenOptions;
}

export interface KeygenOptions {
  /** Image of the runtime. @default - of this package's version */
  readonly image?: string;
}
