/** Asks the embedded matcher and flux-sched's library the same, and compares the answers to the vertex and second. */
import { isDeepStrictEqual } from 'node:util';
import type { Engine } from '../../../runtime/fluxion/engine';
import { EmbeddedEngine } from '../../../runtime/fluxion/matcher/engine';
import { answers } from '../library/histories';
import { historyOf, type Kind } from './cases';
import { type JgfCase, type JgfStep, jgfCaseOf } from './jgf-cases';

export interface Difference {
  readonly kind: Kind;
  readonly seed: number;
  readonly policy: string;
  /** Number of the step with the first different answer. */
  readonly step: number;
  readonly asked: unknown;
  readonly embedded: unknown;
  readonly library: unknown;
}

/** @returns the first difference, and the number of answers that were compared */
export async function compare(
  kind: Kind,
  seed: number,
  library: Engine,
): Promise<{ readonly difference: Difference | undefined; readonly compared: number }> {
  const { policy, asked, ask } = caseOf(kind, seed);
  const ours = plain(await ask(new EmbeddedEngine()));
  const theirs = plain(await ask(library));
  const step = ours.findIndex((answer, i) => !isDeepStrictEqual(answer, theirs[i]));
  const difference =
    step < 0
      ? undefined
      : { kind, seed, policy, step, asked: asked[step], embedded: ours[step], library: theirs[step] };
  return { difference, compared: ours.length };
}

/** Random nodes have no prototype. */
function plain(answered: unknown[]): unknown[] {
  return JSON.parse(JSON.stringify(answered));
}

function caseOf(kind: Kind, seed: number) {
  if (kind === 'sockets') {
    const jgfCase = jgfCaseOf(seed);
    return {
      policy: jgfCase.policy,
      asked: jgfCase.steps,
      ask: (engine: Engine) => answersToJgf(engine, jgfCase),
    };
  }
  const history = historyOf(kind, seed);
  return {
    policy: history.policy,
    asked: history.actions,
    ask: (engine: Engine) => answers(engine, history).catch((error: unknown) => [String(error)]),
  };
}

async function answersToJgf(engine: Engine, { policy, graph, steps }: JgfCase): Promise<unknown[]> {
  await engine.initJgf({ jgf: JSON.stringify(graph), policy, now: 0 });
  const nodes = graph.graph.nodes.filter(({ metadata }) => metadata.type === 'node');
  const paths = nodes.map(({ metadata }) => metadata.paths!.containment!);
  const held: number[] = [];
  const collected: unknown[] = [];
  for (const [jobid, step] of steps.entries())
    collected.push(await answerTo(engine, step, jobid + 1, paths, held));
  return collected;
}

async function answerTo(
  engine: Engine,
  step: JgfStep,
  jobid: number,
  paths: readonly string[],
  held: number[],
): Promise<unknown> {
  switch (step.kind) {
    case 'satisfiable':
      return (await engine.satisfiable(step.jobspec)).satisfiable;
    case 'cancel': {
      const [cancelled] = held.splice(step.nth % Math.max(held.length, 1), 1);
      return cancelled === undefined ? undefined : engine.cancel(cancelled);
    }
    case 'status':
      return engine.setStatus([paths[step.node % paths.length]!], step.up);
    case 'match': {
      const { operation, jobspec } = step;
      const answer = await engine.match({ jobid, jobspec, operation, now: 0 });
      if (answer.status !== 'OK') return answer.status;
      if (!operation.startsWith('without_')) held.push(jobid);
      return { ...answer.allocation, reserved: answer.reserved, held: answer.held() };
    }
  }
}
