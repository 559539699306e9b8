import type { Duration, Size } from 'cdk8s';
import type { IServiceAccount } from 'cdk8s-plus-28';
import type { Reference } from './reference';
import type { MiniClusterSpec } from './resource';

type PodSpec = NonNullable<MiniClusterSpec['pod']>;

/** Compute resources that all containers of a pod share; each amount is request and limit at once. */
export interface PodResources {
  /** CPUs of the pod; fractions are allowed. @default - the sum over its containers */
  readonly cpu?: number;
  /** Memory of the pod. @default - the sum over its containers */
  readonly memory?: Size;
  /** Other resources by name, e.g. `{ 'hugepages-2Mi': 4 }`. @default - none */
  readonly devices?: Readonly<Record<string, number>>;
}

/** Settings of the pods as a whole. */
export interface MiniClusterPodProps {
  /** Annotations of the pods. @default - none */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Labels of the pods, in addition to those that the MiniCluster sets. @default - none */
  readonly labels?: Readonly<Record<string, string>>;
  /** ServiceAccount under which the pods run. @default - the default ServiceAccount of the namespace */
  readonly serviceAccount?: Reference<IServiceAccount>;
  /** Mounts the token of the ServiceAccount, which programs need to call the Kubernetes API. @default false */
  readonly automountServiceAccountToken?: boolean;
  /**
   * Makes the pods pass Pod Security `restricted`: a user other than root, no capabilities, a read-only root file system.
   * @default false
   */
  readonly restricted?: boolean;
  /** Security context of the pods; with `restricted` it overrides single fields. @default - the image decides */
  readonly securityContext?: NonNullable<PodSpec['securityContext']>;
  /** Whether the kubelet restarts a container that failed. @default - Never with a command, OnFailure for an interactive cluster */
  readonly restartPolicy?: 'Never' | 'OnFailure';
  /** Time that the containers have to end after SIGTERM. @default - 30 s, with `archivePath` 120 s */
  readonly terminationGracePeriod?: Duration;
  /** Compute resources of each pod as a whole, in addition to those of its containers. @default - none */
  readonly resources?: PodResources;
  /** Devices by dynamic resource allocation (DRA); containers name them in `claims`. @default - none */
  readonly resourceClaims?: NonNullable<PodSpec['resourceClaims']>;
  /** Name of the RuntimeClass of the pods, e.g. `nvidia` or `kata`. @default - the default runtime of the node */
  readonly runtimeClassName?: string;
  /** Lets the containers of a pod see and signal each other's processes. @default false */
  readonly shareProcessNamespace?: boolean;
  /** Uses the IPC namespace of the node. @default false */
  readonly hostIpc?: boolean;
  /** Uses the process namespace of the node; conflicts with `shareProcessNamespace`. @default false */
  readonly hostPid?: boolean;
}
