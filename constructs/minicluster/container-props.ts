import type { Size } from 'cdk8s';
import type { IConfigMap, ISecret } from 'cdk8s-plus-28';
import type { Reference } from './reference';
import type { ContainerSpec } from './resource';
import type { MiniClusterVolume } from './volume';

type ProbeSpec = NonNullable<ContainerSpec['livenessProbe']>;
type EnvVarSpec = NonNullable<ContainerSpec['env']>[number];
type SecurityContextSpec = NonNullable<ContainerSpec['securityContext']>;

/** One key of a Secret. */
interface SecretKey {
  readonly secret: Reference<ISecret>;
  readonly key: string;
}

/** All keys of a ConfigMap or a Secret. */
interface EnvFromProps {
  /** @default - none */
  readonly configMap?: Reference<IConfigMap>;
  /** @default - none */
  readonly secret?: Reference<ISecret>;
  /** Put before each name. @default - nothing */
  readonly prefix?: string;
}

/** What every container may ask for. */
export interface ComputeProps {
  /** CPUs it asks for, fractions allowed. The brokers offer the whole ones of limit or request. @default - none */
  readonly cpu?: number;
  /** The most CPUs it may use. @default - no limit */
  readonly cpuLimit?: number;
  /** Memory it asks for. @default - none */
  readonly memory?: Size;
  /** The most memory it may use. @default - no limit */
  readonly memoryLimit?: Size;
  /** Other resources by name, e.g. `{ 'nvidia.com/gpu': 1 }`. @default - none */
  readonly devices?: Readonly<Record<string, number>>;
  /** Names of `resourceClaims` it uses. @default - none */
  readonly claims?: readonly string[];
  /** @default - the image decides */
  readonly securityContext?: SecurityContextSpec;
}

/** A container of the brokers' pods or of the services' pod. */
export interface ContainerProps extends ComputeProps {
  /** @default ghcr.io/rse-ops/accounting:app-latest */
  readonly image?: string;
  /** Needed by sidecars and services. @default - the name of the MiniCluster */
  readonly name?: string;
  /** What runs: submitted as one job, unless `launcher` or `batch` says otherwise. @default - brokers only, interactive */
  readonly command?: string;
  /** Script that runs in place of a command, by every task. @default - none */
  readonly script?: string;
  /** The command submits its own jobs; it runs once, beside the lead. @default false */
  readonly launcher?: boolean;
  /** Every line of the command is a job of one batch job. @default false */
  readonly batch?: boolean;
  /** With `batch`: the command is the batch script as it stands. @default false */
  readonly batchRaw?: boolean;
  /** Directory for the output of batch jobs. @default /tmp/fluxout */
  readonly logs?: string;
  /** Shell that runs first of all. @default - none */
  readonly init?: string;
  /** Shell before the broker, in every pod. @default - none */
  readonly pre?: string;
  /** Shell before the broker, in the lead. @default - none */
  readonly brokerPre?: string;
  /** Shell before the broker, in the workers. @default - none */
  readonly workerPre?: string;
  /** Shell before a sidecar waits for Flux. @default - none */
  readonly servicePre?: string;
  /** Shell after the broker; the exit code stays the command's. @default - none */
  readonly post?: string;
  /** Words before what the lead starts. @default - none */
  readonly prefix?: string;
  /** @default - the image's */
  readonly workingDir?: string;
  /** @default - none */
  readonly environment?: Readonly<Record<string, string>>;
  /** Variables from keys of Secrets. @default - none */
  readonly secrets?: Readonly<Record<string, SecretKey>>;
  /** Variables as in a pod, for those from fields. @default - none */
  readonly env?: readonly EnvVarSpec[];
  /** Variables from all keys of ConfigMaps and Secrets. @default - none */
  readonly envFrom?: readonly EnvFromProps[];
  /** Volumes by name. @default - none */
  readonly volumes?: Readonly<Record<string, MiniClusterVolume>>;
  /** A sidecar's or service's become a Service. @default - none */
  readonly ports?: readonly number[];
  /** Name of that Service. @default - NAME-CONTAINER */
  readonly serviceName?: string;
  /** A sidecar that starts as its image says. @default false */
  readonly noWrapEntrypoint?: boolean;
  /** @default IfNotPresent */
  readonly imagePullPolicy?: NonNullable<ContainerSpec['imagePullPolicy']>;
  /** The same as imagePullPolicy Always. @default false */
  readonly pullAlways?: boolean;
  /** @default - none */
  readonly imagePullSecret?: Reference<ISecret>;
  /** Shell right after the start of the container. @default - none */
  readonly postStart?: string;
  /** Shell before the container is told to end. @default - none */
  readonly preStop?: string;
  /** @default - none */
  readonly livenessProbe?: ProbeSpec;
  /** @default - none */
  readonly readinessProbe?: ProbeSpec;
  /** @default - none */
  readonly startupProbe?: ProbeSpec;
}
