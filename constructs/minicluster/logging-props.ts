/** What the brokers and the scripts around them write to the log of their pod. */
export interface MiniClusterLoggingProps {
  /** Writes nothing but the output of the command and the errors of scripts. @default false */
  readonly quiet?: boolean;
  /** Ends the pod when a line of a user script (`init`, `pre`, `brokerPre`, `workerPre`) fails. @default false */
  readonly strict?: boolean;
  /** Submits the job with `-vvv`. @default false */
  readonly debug?: boolean;
  /** Logs the ZeroMQ connections between the brokers. @default false */
  readonly zeromq?: boolean;
  /** Writes how long the Flux instance and the command took, as lines that begin with `FLUXTIME`. @default false */
  readonly timed?: boolean;
  /** Log level of the brokers, from 0 (emergencies only) to 7 (debug). @default 6 */
  readonly level?: number;
}
