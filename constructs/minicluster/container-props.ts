import type { Size } from 'cdk8s';
import type { IConfigMap, ISecret } from 'cdk8s-plus-28';
import type { Reference } from './reference';
import type { ContainerSpec } from './resource';
import type { MiniClusterVolume } from './volume';

type ProbeSpec = NonNullable<ContainerSpec['livenessProbe']>;
type EnvVarSpec = NonNullable<ContainerSpec['env']>[number];
type SecurityContextSpec = NonNullable<ContainerSpec['securityContext']>;

/** One key of a Secret. */
export interface SecretKey {
  /** The Secret. */
  readonly secret: Reference<ISecret>;
  /** The key in it. */
  readonly key: string;
}

/** Environment variables from all keys of a ConfigMap or a Secret. */
export interface EnvFromProps {
  /** ConfigMap whose keys become variables. @default - none */
  readonly configMap?: Reference<IConfigMap>;
  /** Secret whose keys become variables. @default - none */
  readonly secret?: Reference<ISecret>;
  /** Prefix of the names of the variables. @default - none */
  readonly prefix?: string;
}

/** Compute resources and rights of one container. */
export interface ComputeProps {
  /** CPUs that the container requests; fractions are allowed. @default - no request */
  readonly cpu?: number;
  /** CPUs that the container may use at most. @default - no limit */
  readonly cpuLimit?: number;
  /** Memory that the container requests. @default - no request */
  readonly memory?: Size;
  /** Memory that the container may use at most. @default - no limit */
  readonly memoryLimit?: Size;
  /** Other resources by name, e.g. `{ 'nvidia.com/gpu': 1 }`. @default - none */
  readonly devices?: Readonly<Record<string, number>>;
  /** Names of those `pod.resourceClaims` that the container uses. @default - none */
  readonly claims?: readonly string[];
  /** Security context of the container. @default - the image decides */
  readonly securityContext?: SecurityContextSpec;
}

/** A container of the brokers' pods or of the services' pod. */
export interface MiniClusterContainerProps extends ComputeProps {
  /** Image of the container. @default ghcr.io/rse-ops/accounting:app-latest */
  readonly image?: string;
  /** Name of the container; sidecars and services must have one. @default - the name of the MiniCluster */
  readonly name?: string;
  /**
   * Command that is submitted as one job; `launcher` and `batch` change that. A sidecar or a service runs it itself.
   * @default - brokers without a job, as with `interactive`
   */
  readonly command?: string;
  /** Shell script that every task runs, in place of `command`. @default - none */
  readonly script?: string;
  /** Runs the command once, beside the lead broker, so that it can submit jobs itself. @default false */
  readonly launcher?: boolean;
  /** Submits every line of the command as a job of one batch job. @default false */
  readonly batch?: boolean;
  /** Submits the command unchanged as the script of a batch job. @default false */
  readonly batchRaw?: boolean;
  /** Directory that batch jobs write their output to. @default /tmp/fluxout */
  readonly logs?: string;

  /** Shell commands that run before anything else. @default - none */
  readonly init?: string;
  /** Shell commands that run before the broker, in every pod. @default - none */
  readonly pre?: string;
  /** Shell commands that run before the lead broker. @default - none */
  readonly brokerPre?: string;
  /** Shell commands that run before the brokers of the workers. @default - none */
  readonly workerPre?: string;
  /** Shell commands that run before a sidecar waits for Flux. @default - none */
  readonly servicePre?: string;
  /** Shell commands that run after the broker; they do not change the exit code. @default - none */
  readonly post?: string;
  /** Words before the command line that the lead broker starts, e.g. `strace -c`. @default - none */
  readonly prefix?: string;
  /** Working directory of the container and of its jobs. @default - the image's */
  readonly workingDir?: string;

  /** Environment variables; see also `addEnv`. @default - none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Environment variables from keys of Secrets. @default - none */
  readonly secrets?: Readonly<Record<string, SecretKey>>;
  /** Environment variables in the form that pods have them, e.g. from fields of the pod. @default - none */
  readonly env?: readonly EnvVarSpec[];
  /** Environment variables from all keys of ConfigMaps and Secrets. @default - none */
  readonly envFrom?: readonly EnvFromProps[];
  /** Volumes by name, each mounted in this container; see also `addVolume`. @default - none */
  readonly volumes?: Readonly<Record<string, MiniClusterVolume>>;

  /** Ports of the container; those of a sidecar or a service get a Service. @default - none */
  readonly ports?: readonly number[];
  /** Name of the Service for the ports. @default - NAME-CONTAINER */
  readonly serviceName?: string;
  /** Starts a sidecar or a service with the entrypoint of its image. @default false */
  readonly noWrapEntrypoint?: boolean;

  /** When the kubelet pulls the image. @default IfNotPresent */
  readonly imagePullPolicy?: NonNullable<ContainerSpec['imagePullPolicy']>;
  /** Pulls the image even if the node has it, like `imagePullPolicy: 'Always'`. @default false */
  readonly pullAlways?: boolean;
  /** Secret with the credentials of the registry of the image. @default - none */
  readonly imagePullSecret?: Reference<ISecret>;

  /** Shell commands that run right after the start of the container. @default - none */
  readonly postStart?: string;
  /** Shell commands that run before the container gets SIGTERM. @default - none */
  readonly preStop?: string;
  /** Probe that restarts the container when it fails. @default - none */
  readonly livenessProbe?: ProbeSpec;
  /** Probe that takes the container out of its Service while it fails. @default - none */
  readonly readinessProbe?: ProbeSpec;
  /** Probe that must succeed before the container counts as started. @default - none */
  readonly startupProbe?: ProbeSpec;
}
