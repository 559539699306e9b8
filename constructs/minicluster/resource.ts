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
  /** Whom lead brokers with `flux.report` report to. @default - nobody */
  readonly report?: ReportContact;
}

/** The controller as lead brokers reach it; a file in their pods has it as JSON. */
export interface ReportContact {
  /** `ADDRESS:PORT` of the leader. */
  readonly addresses: readonly string[];
  /** Host name in its certificate. */
  readonly host: string;
  /** Certificates in PEM to trust. */
  readonly ca: string;
  /** Path of the MiniCluster at the controller. */
  readonly path: string;
  /** Seconds between two reports. */
  readonly every: number;
}

export interface KeygenOptions {
  /** Image of the fluxqueue runtime. @default - the image of this package's version */
  readonly image?: string;
}
