/** Runs the table of scenarios against one server. */

import type { Fluxion, MatchResult } from '../../runtime/fluxion/types';
import { parseIdset } from '../../runtime/resources/idset';
import type { Allocation, UnitIds } from '../../runtime/resources/types';
import { type Grant, SCENARIOS, type Scenario, START, type Step, TWO_NODES } from './scenarios';

export interface Subject {
  readonly fluxion: Fluxion;
  stop(): Promise<void>;
}

export interface ConformanceOptions {
  /**
   * What can be compared. `exact`: everything. `public`: a three-RPC server, which says BUSY for every refusal
   * and gives back replayed units by number, not by name; scenarios beyond it are left out.
   */
  readonly level: 'exact' | 'public';
}

/** Registers one test per scenario. */
export function conformance(open: () => Promise<Subject>, { level }: ConformanceOptions): void {
  let subject: Subject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject.stop());
  const asked = SCENARIOS.filter(({ beyondPublic = false }) => level === 'exact' || !beyondPublic);
  test.each(asked.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    await play(subject.fluxion, scenario, level);
  });
}

async function play(fluxion: Fluxion, scenario: Scenario, level: ConformanceOptions['level']): Promise<void> {
  const { nodes = TWO_NODES, policy = 'lonode' } = scenario;
  const run = { fluxion, policy, level, now: START };
  await fluxion.init({ nodes, policy, now: run.now });
  for (const [i, step] of scenario.steps.entries()) {
    try {
      await take(run, step);
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

async function take(run: Run, step: Step): Promise<void> {
  if ('ask' in step) return ask(run, step);
  if ('now' in step) run.now = step.now;
  else if ('init' in step) await run.fluxion.init({ nodes: step.init, policy: run.policy, now: run.now });
  else if ('replay' in step) await replay(run, step);
  else if ('cancel' in step) await run.fluxion.cancel(step.cancel);
  else if ('partialCancel' in step) {
    expect(await run.fluxion.partialCancel(step.partialCancel, step.nodes)).toBe(step.gone);
  } else await changeOrLook(run, step);
}

async function changeOrLook({ fluxion }: Run, step: Step): Promise<void> {
  if ('down' in step) await fluxion.setStatus(step.down, false);
  else if ('up' in step) await fluxion.setStatus(step.up, true);
  else if ('add' in step) await fluxion.addNodes(step.add);
  else if ('remove' in step) expect(await fluxion.removeNodes(step.remove)).toEqual(step.hit);
  else if ('satisfiable' in step) {
    expect((await fluxion.satisfiable(step.satisfiable)).satisfiable).toBe(step.gives);
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

async function ask({ fluxion, now, level }: Run, step: Extract<Step, { ask: unknown }>): Promise<void> {
  const { by = 'allocate_with_satisfiability', gives } = step;
  const result = await fluxion.match({ jobid: step.ask, jobspec: step.for, operation: by, now });
  if (typeof gives === 'string') {
    // A public server gives no reason; our own record still refuses an id that is in use.
    if (level === 'public') expect(['BUSY', gives]).toContain(result.status);
    else expect(result.status).toBe(gives);
    return;
  }
  const described = describeResult(result, level);
  expect(described).toEqual({
    ...describeGrant(gives, level),
    reserved: gives[0] > now && by !== 'without_allocating_future',
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
