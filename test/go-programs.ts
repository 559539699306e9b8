/** The programs in Go that suites build: before the first test, because a build beside them keeps the machine busy for minutes. */
import { WORKLOAD_KINDS } from '../constructs/api/workload-kinds';
import { GoProgram } from './go-program';
import { programsOf } from './kinds/controllers';
import { JOBSET } from './kinds/jobset';
import { LWS } from './kinds/leader-worker-set';
import { MPI_OPERATOR } from './kinds/mpi-operator';
import { TRAINER } from './kinds/trainer';
import { PROMTOOL } from './monitoring/promtool';
import { drawOf } from './seed';

export const LINTER = new GoProgram('github.com/zegl/kube-score/cmd/kube-score', 'v1.20.0');
export const ACTIONLINT = new GoProgram('github.com/rhysd/actionlint/cmd/actionlint', 'v1.7.12');

/** Of the workload kinds, whose controllers `npm test` runs. */
export const KINDS_DRAWN = 1;

/** By the names under which suites build them. @internal exported for tests */
export const PROGRAMS = { JOBSET, LWS, MPI_OPERATOR, TRAINER, PROMTOOL, LINTER, ACTIONLINT };

/** Builds what these texts of suites build. A program that can't be had is skipped by its suite. */
export function buildGoPrograms(suites: readonly string[]): void {
  const isCalled = (call: string) => suites.some((text) => text.includes(call));
  for (const [name, program] of Object.entries(PROGRAMS))
    if (isCalled(`${name}.buildOrSkip`)) program.build();
  if (isCalled('runnableKinds(drawOf'))
    for (const program of programsOf(drawOf(WORKLOAD_KINDS, KINDS_DRAWN))) program.build();
}
