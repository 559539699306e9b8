/** The programs in Go that suites build: before the first test, because a build beside them keeps the machine busy for minutes. */
import { WORKLOAD_KINDS } from '../constructs/api/workload-kinds';
import { GoProgram } from './go-program';
import { programsOf } from './kinds/controllers';
import { JOBSET } from './kinds/jobset';
import { MPI_OPERATOR } from './kinds/mpi-operator';
import { TRAINER } from './kinds/trainer';
import { PROMTOOL } from './monitoring/promtool';
import { drawOf } from './seed';

export const LINTER = new GoProgram('github.com/zegl/kube-score/cmd/kube-score', 'v1.20.0');
export const ACTIONLINT = new GoProgram('github.com/rhysd/actionlint/cmd/actionlint', 'v1.7.12');

/** Of the workload kinds, whose controllers `npm test` runs. */
export const KINDS_DRAWN = 1;

const BUILDS: Readonly<Record<string, () => readonly GoProgram[]>> = {
  'JOBSET.buildOrSkip': () => [JOBSET],
  'MPI_OPERATOR.buildOrSkip': () => [MPI_OPERATOR],
  'TRAINER.buildOrSkip': () => [TRAINER],
  'PROMTOOL.buildOrSkip': () => [PROMTOOL],
  'LINTER.buildOrSkip': () => [LINTER],
  'ACTIONLINT.buildOrSkip': () => [ACTIONLINT],
  'runnableKinds(drawOf': () => programsOf(drawOf(WORKLOAD_KINDS, KINDS_DRAWN)),
};

/** Builds what these texts of suites build. A program that can't be had is skipped by its suite. */
export function buildGoPrograms(suites: readonly string[]): void {
  for (const [call, programs] of Object.entries(BUILDS)) {
    if (!suites.some((text) => text.includes(call))) continue;
    for (const program of programs()) program.build();
  }
}
