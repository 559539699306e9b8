/** Runs the conformance scenarios against one server. */

import type { Fluxion, MatchResult } from '../../runtime/fluxion/types';
import { parseIdset } from '../../runtime/resources/idset';
import type { Allocation, UnitIds } from '../../runtime/resources/types';
import { SCENARIOS } from './scenarios';
import { type Grant, type Scenario, START, type Step, TWO_NODES } from './scenarios/scenario';

export interface ConformanceServer {
  readonly fluxion: Fluxion;
  stop(): Promise<void>;
}

export interface ConformanceOptions {
  /**
   * `exact` compares everything. `public` is for a three-RPC server, which answers BUSY for every refusal and restores
   * only the number of units: it skips scenarios with `beyondPublic`.
   */
  readonly level: 'exact' | 'public';
}

/** Registers one test per scenario. */
export function conformance(open: () => Promise<ConformanceServer>, { level }: ConformanceOptions): void {
  let subject: ConformanceServer;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject.stop());
  const selected = SCENARIOS.filter(({ beyondPublic = false }) => level === 'exact' || !beyondPublic);
  test.each(selected.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    await play(subject.fluxion, scenario, level);
  });
}

async function play(fluxion: Fluxion, scenario: Scenario, level: ConformanceOptions['level']): Promise<void> {
  const { nodes = TWO_NODES, policy = 'lonode' } = scenario;
  const run = { fluxion, policy, level, now: START };
  await fluxion.init({ nodes, policy, now: run.now });
  for (const [i, step] of scenario.steps.entries()) {
    try {
      await runStep(run, step);
    } catch (error) {
      throw new Error(
        `step ${i + 1} ${JSON.stringify(step)}: ${error instanceof Error ? error.message : error}`,
        {
          cause: error,
        },
      );
    }
  }
}

interface Run {
  readonly fluxion: Fluxion;
  readonly policy: NonNullable<Scenario['policy']>;
  readonly level: ConformanceOptions['level'];
  now: number;
}

async function runStep(run: Run, step: Step): Promise<void> {
  if ('match' in step) return match(run, step);
  if ('now' in step) run.now = step.now;
  else if ('init' in step) await run.fluxion.init({ nodes: step.init, policy: run.policy, now: run.now });
  else if ('replay' in step) await replay(run, step);
  else if ('cancel' in step) await run.fluxion.cancel(step.cancel);
  else if ('partialCancel' in step) {
    expect(await run.fluxion.partialCancel(step.partialCancel, step.nodes)).toBe(step.empty);
  } else await changeOrCheck(run, step);
}

async function changeOrCheck({ fluxion }: Run, step: Step): Promise<void> {
  if ('down' in step) await fluxion.setStatus(step.down, false);
  else if ('up' in step) await fluxion.setStatus(step.up, true);
  else if ('add' in step) await fluxion.addNodes(step.add);
  else if ('remove' in step) expect(await fluxion.removeNodes(step.remove)).toEqual(step.affected);
  else if ('satisfiable' in step) {
    expect((await fluxion.satisfiable(step.satisfiable)).satisfiable).toBe(step.expected);
  } else if ('jobs' in step) {
    const { jobs } = await fluxion.state();
    expect(jobs.map(({ jobid }) => jobid).sort((a, b) => a - b)).toEqual(step.jobs);
  } else if ('free' in step) {
    const { nodes } = await fluxion.state();
    expect(Object.fromEntries(nodes.map(({ name, free }) => [name, free]))).toEqual(step.free);
  }
}

async function replay({ fluxion, now }: Run, step: Extract<Step, { replay: unknown }>): Promise<void> {
  const done = fluxion.replay(step.replay, now);
  if (step.fails === undefined) await done;
  else await expect(done).rejects.toMatchObject({ code: 'FLUXQ_FLUXION_REPLAY' });
}

async function match({ fluxion, now, level }: Run, step: Extract<Step, { match: unknown }>): Promise<void> {
  const { operation = 'allocate_with_satisfiability', expected } = step;
  const result = await fluxion.match({ jobid: step.match, jobspec: step.jobspec, operation, now });
  if (typeof expected === 'string') {
    // A public server gives no reason, but the client still refuses a job id that is in use.
    if (level === 'public') expect(['BUSY', expected]).toContain(result.status);
    else expect(result.status).toBe(expected);
    return;
  }
  const described = describeResult(result, level);
  expect(described).toEqual({
    ...describeGrant(expected, level),
    reserved: expected[0] > now && operation !== 'without_allocating_future',
  });
}

type Described = { start: number; end: number; reserved: boolean; nodes: unknown };

function describeResult(result: MatchResult, level: ConformanceOptions['level']): Described | MatchResult {
  if (result.status !== 'OK') return result;
  const { start, end, nodes } = result.allocation;
  return { start, end, reserved: result.reserved, nodes: describeNodes(nodes, level) };
}

function describeGrant(
  [start, end, nodes]: Grant,
  level: ConformanceOptions['level'],
): Omit<Described, 'reserved'> {
  const list = Object.entries(nodes).map(([name, units]) => ({ name, units }));
  return { start, end, nodes: describeNodes(list, level) };
}

function describeNodes(nodes: Allocation['nodes'], level: ConformanceOptions['level']): unknown {
  const counted = (units: UnitIds) =>
    Object.fromEntries(Object.entries(units).map(([type, ids]) => [type, parseIdset(ids).length]));
  return nodes.map(({ name, units }) => [name, level === 'exact' ? units : counted(units)]);
}
