/** The controllers of the workload kinds, each built from its Go module. */
import type { WorkloadKind } from '../../constructs/api/workload-kinds';
import { kindPath } from '../../runtime/kubernetes/kind-fields';
import type { Cluster } from '../cluster/cluster';
import { waitFor } from '../cluster/wait';
import type { GoProgram } from '../go-program';
import { JOBSET, startJobSet } from './jobset';
import { MPI_OPERATOR, startMpiOperator } from './mpi-operator';
import { gang, kindOf } from './objects';
import { startTrainingOperator, TRAINING_KINDS, TRAINING_OPERATOR } from './training-operator';

interface Controller {
  readonly kinds: readonly string[];
  readonly program: GoProgram;
  readonly start: (program: string, cluster: Cluster) => Promise<{ stop(): Promise<void> }>;
}

const CONTROLLERS: readonly Controller[] = [
  { kinds: ['JobSet'], program: JOBSET, start: startJobSet },
  { kinds: ['MPIJob'], program: MPI_OPERATOR, start: startMpiOperator },
  { kinds: TRAINING_KINDS, program: TRAINING_OPERATOR, start: startTrainingOperator },
];

/** Those of these kinds whose controller is there; a line on stderr says which program is not. */
export function runnableKinds(kinds: readonly WorkloadKind[]): readonly WorkloadKind[] {
  const runnable = controllersOf(kinds).filter(({ program }) => program.buildOrSkip() !== undefined);
  const names = new Set(runnable.flatMap(({ kinds: of }) => of));
  return kinds.filter(({ kind }) => names.has(kind));
}

/** Starts the controllers of kinds that are runnable. They keep the machine busy, so those of other kinds are not started. */
export async function startControllers(
  cluster: Cluster,
  kinds: readonly WorkloadKind[],
): Promise<{ stop(): Promise<void> }> {
  const started: { stop(): Promise<void> }[] = [];
  for (const { program, start } of controllersOf(kinds)) started.push(await start(program.built!, cluster));
  return {
    stop: async () => {
      for (const each of started) await each.stop();
    },
  };
}

/** Resolves when the apiserver takes objects of the kinds. It knows a new kind in mutating policies up to 30 s later than else. */
export async function untilAdmitted(
  cluster: Cluster,
  namespace: string,
  kinds: readonly WorkloadKind[],
): Promise<void> {
  for (const kind of kinds)
    await waitFor(`${kind.kind} to be admitted in ${namespace}`, async () => {
      const path = `${kindPath(kind)(namespace)}?dryRun=All`;
      return (await cluster.api.send('POST', path, gang(kind, 'probe'))).status === 201;
    });
}

/** What the controllers of these kinds are. */
export const programsOf = (kinds: readonly WorkloadKind[]): readonly GoProgram[] =>
  controllersOf(kinds).map(({ program }) => program);

function controllersOf(kinds: readonly WorkloadKind[]): readonly Controller[] {
  return CONTROLLERS.filter(({ kinds: names }) => kinds.some(({ kind }) => names.includes(kind)));
}

/** Every kind of the registry has its controller here. @internal exported for tests */
export const CONTROLLED: readonly WorkloadKind[] = CONTROLLERS.flatMap(({ kinds }) => kinds).map(kindOf);
