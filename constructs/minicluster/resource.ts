/**
 * Terms of this folder: a *resource* is a MiniCluster as users write it (v1alpha2); a *manifest* is one of the objects
 * that it consists of. Each pod of its Job runs one *broker*; pod 0 runs the *lead* broker, the other pods are
 * *workers*. The other containers of a pod are *sidecars*.
 */
import type { MiniClusterSpec, MiniClusterSpecContainers } from '../../imports/flux-framework.org-spec';

export type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';

/** A container of the brokers' pods or of the services' pod; both have the same fields. */
export type ContainerSpec = MiniClusterSpecContainers;

/** A volume of a container, with the path where it is mounted. */
export type VolumeSpec = NonNullable<ContainerSpec['volumes']>[string];

export interface MiniClusterResource {
  readonly metadata: {
    /** Name of the MiniCluster. */
    readonly name: string;
    /** Namespace of the MiniCluster. @default - the namespace that it is applied to; brokers use short host names */
    readonly namespace?: string;
    /** UID that the apiserver assigned. @default - unknown */
    readonly uid?: string;
    /** Annotations; admission writes the user who created the MiniCluster. @default - none */
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** The MiniCluster as users write it. */
  readonly spec: MiniClusterSpec;
}

/** A Kubernetes object in the form in which it is applied. */
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
   * Adds a Job that creates the certificate, for clusters without the fluxqueue controller.
   * @default - the Secret exists, or the controller creates it
   */
  readonly keygen?: KeygenOptions;
}

export interface KeygenOptions {
  /** Image of the fluxqueue runtime. @default - the image of this package's version */
  readonly image?: string;
}
