/**
 * What happens in a run besides submissions. The seed turns each feature on or off (swarm testing): a bug that one
 * feature hides is found in runs without it.
 */
import { Random } from './random';

export interface Features {
  /** Processes crash, calls fail, watches break, nodes come and go. Without it no estimate may be postponed. */
  readonly faults: boolean;
  /** The database is restored from a backup. */
  readonly restores: boolean;
  /** The clock of the controller jumps. */
  readonly clockJumps: boolean;
  /** Nodes become NotReady, get taints and are drained. */
  readonly nodeFaults: boolean;
  /** Admission is not in force for some seconds, or refuses everything. */
  readonly admissionFaults: boolean;
  /** FluxSetups are created, changed and deleted in two namespaces: several queues, quotas, limits and preemption. */
  readonly queues: boolean;
  /** Pods that run until they are deleted. */
  readonly services: boolean;
  /** Pods need seconds to terminate, so they overrun their walltimes. */
  readonly slowPods: boolean;
  /** Processes, calls and watches are left alone in half of the time, while nodes, queues and users go on. */
  readonly calms: boolean;
  /** Few different walltimes, so that many workloads are equal and compete for the same starts. */
  readonly equalWalltimes: boolean;
  /** Pods get larger while they run, or at their creation, or a unit gets a second one. */
  readonly enlargements: boolean;
  /** Queues lend each other quota, take it back, and preempt by fair share. */
  readonly cohorts: boolean;
  /** Images are pulled for seconds, in which no container runs. */
  readonly pulls: boolean;
  /** Some Jobs are deleted as soon as they have ended. */
  readonly goneAtEnd: boolean;
  /** The Job controller keeps the start time of a suspended Job, as before Kubernetes 1.36. */
  readonly older: boolean;
  /** Nodes become smaller than what they grant, take few pods, and have pods that request nothing. */
  readonly oddNodes: boolean;
  /** The ends of all workloads are compared with their records. */
  readonly ends: boolean;
  /** The pods of Jobs have different lengths and failures, and somebody deletes some of them. */
  readonly tails: boolean;
}

/** What happens whatever the seed says. */
export interface Switches {
  /** Whether pods are enlarged. @default false */
  readonly enlarge?: boolean;
  /** Whether there are queues that share quota. @default false */
  readonly cohorts?: boolean;
  /** Whether images are pulled for seconds. @default false */
  readonly pulls?: boolean;
  /** Whether Kubernetes is older than 1.36. @default false */
  readonly older?: boolean;
  /** Whether nodes shrink, take few pods, and have pods that request nothing. @default false */
  readonly nodes?: boolean;
  /** Whether the pods of a Job end at different times and in different ways. @default false */
  readonly tails?: boolean;
  /** Whether the ends of all workloads are compared with their records. @default false */
  readonly ends?: boolean;
}

export function featuresOf(
  seed: number,
  {
    enlarge = false,
    cohorts = false,
    pulls = false,
    older = false,
    nodes = false,
    tails = false,
    ends = false,
  }: Switches = {},
): Features {
  const random = new Random(seed ^ 0x5eed);
  const faults = seed % 5 !== 0;
  return {
    faults,
    restores: faults && seed % 7 === 3,
    clockJumps: faults && seed % 2 === 0,
    nodeFaults: (random.happens(0.4) || nodes) && faults,
    admissionFaults: random.happens(0.3) && faults,
    // What pods use beyond their grants counts in a quota.
    queues: random.happens(0.5) || cohorts || enlarge,
    services: random.happens(0.4),
    slowPods: random.happens(0.4),
    calms: random.happens(0.5) && faults,
    equalWalltimes: seed % 7 === 2,
    // By an option only: the known seeds repeat what they found.
    enlargements: enlarge,
    cohorts,
    pulls,
    ends,
    goneAtEnd: random.happens(0.4) && ends,
    older,
    oddNodes: nodes,
    tails,
  };
}

/** The names of the features that are on. */
export function namesOf(features: Features): string {
  return Object.entries(features)
    .filter(([, on]) => on)
    .map(([name]) => name)
    .join(' ');
}
