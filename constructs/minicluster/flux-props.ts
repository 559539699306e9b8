import type { Duration } from 'cdk8s';
import type { ISecret } from 'cdk8s-plus-28';
import type { ComputeProps } from './container-props';
import type { Reference } from './reference';
import type { MiniClusterSpec } from './resource';

type FluxSpec = NonNullable<MiniClusterSpec['flux']>;

/** The init container that copies Flux into images that do not have it. */
export interface FluxViewProps extends ComputeProps {
  /**
   * Image with a build of Flux for the operating system of the image in `container`.
   * @default ghcr.io/converged-computing/flux-view-ubuntu:tag-noble
   */
  readonly image?: string;
  /** Secret with the credentials of the registry of the image. @default - none */
  readonly imagePullSecret?: Reference<ISecret>;
  /** Pulls the image even if the node has it. @default false */
  readonly pullAlways?: boolean;
  /** Name of the init container. @default flux-view */
  readonly name?: string;
  /** Working directory of the init container. @default - the image's */
  readonly workingDir?: string;
  /** PYTHONPATH with which the copied Flux runs. @default - the Python modules of the view */
  readonly pythonPath?: string;
}

/** The Flux instance that the brokers form. */
export interface MiniClusterFluxProps {
  /** States that the image of the brokers' container has Flux, so that no init container is added. @default false */
  readonly inImage?: boolean;
  /** The init container that copies Flux into the pods. @default - Flux for Ubuntu 24.04 */
  readonly view?: FluxViewProps;
  /** Directory of Flux and its run-time files in every container. @default /mnt/flux */
  readonly mountPath?: string;

  /** Command that submits `container.command`. @default flux submit */
  readonly submitCommand?: string;
  /** Options for the submit command, e.g. `-ompi=pmix`. @default - none */
  readonly optionFlags?: string;
  /** Command that every broker is started with, its words separated by commas, e.g. `strace,-f`. @default - none */
  readonly wrap?: string;
  /** Environment variables that `flux-view.sh` exports to shells which source it. @default - none */
  readonly environment?: Readonly<Record<string, string>>;

  /** Uses the simple scheduler of Flux in place of Fluxion. @default false */
  readonly simpleScheduler?: boolean;
  /** Queue policy of Fluxion, e.g. `easy`. @default fcfs */
  readonly queuePolicy?: string;
  /** Match policy of Fluxion, e.g. `lonodex`. @default - Fluxion's own */
  readonly matchPolicy?: string;
  /** Number of cores that each broker offers to jobs. @default - the whole CPUs of the container, else those of the node */
  readonly cores?: number;
  /**
   * Number of GPUs that each broker offers to jobs; set it for device claims (DRA) of several GPUs.
   * @default - those of `devices`, and one for each entry of `claims` that has gpu in its name
   */
  readonly gpus?: number;
  /**
   * Reports the numbers of jobs and resources to the controller, which writes them to the status of the MiniCluster; requires
   * `live: true`.
   * @default false
   */
  readonly report?: boolean;
  /** Pins tasks to cores; use it where the kubelet gives each pod exclusive CPUs. @default false */
  readonly cpuAffinity?: boolean;

  /** Shape of the tree of brokers, e.g. `kary:8`. @default - every broker connects to the lead broker */
  readonly topology?: string;
  /** Time after which a broker gives up one attempt to connect; 0 leaves it to Flux. @default Duration.seconds(5) */
  readonly connectTimeout?: Duration;
  /** Creates the socket through which sidecars and `flux proxy` reach the broker of their pod. @default true */
  readonly socket?: boolean;
  /** Makes sidecars wait for that socket before they start. @default true */
  readonly waitSocket?: boolean;
  /** Completes a worker pod when its broker ends, where it otherwise starts the broker again. @default false */
  readonly completeWorkers?: boolean;
  /** Brokers outside of this MiniCluster that join it, or the lead broker that this one joins. @default - none */
  readonly bursting?: NonNullable<FluxSpec['bursting']>;
  /** Secret with a MUNGE key under the key `munge.key`, mounted at /etc/munge. @default - none */
  readonly mungeSecret?: Reference<ISecret>;
  /** Content of broker.toml, which replaces the generated one completely. @default - generated */
  readonly brokerConfig?: string;
}
