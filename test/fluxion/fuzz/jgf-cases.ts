/** Random requests on graphs in JGF with levels above and below the nodes. The time stays at 0, as in the recorded answers. */
import type { MatchPolicy } from '../../../constructs/api/policies';
import type { JgfGraph } from '../../../runtime/fluxion/jgf/types';
import type { MatchOperation } from '../../../runtime/fluxion/types';
import type { Jobspec, JobspecResource } from '../../../runtime/jobspec/types';
import fc from '../../fast-check';
import { operations } from '../matcher/arbitraries';
import { ALL } from './cases';
import { levelGraph } from './level-graph';
import { bare, inside, jobspecs, slotsOf, slotsOfWhole } from './requests';

export interface JgfCase {
  readonly policy: MatchPolicy;
  readonly graph: JgfGraph;
  readonly steps: readonly JgfStep[];
}

export type JgfStep =
  | { readonly kind: 'match'; readonly operation: MatchOperation; readonly jobspec: Jobspec }
  | { readonly kind: 'satisfiable'; readonly jobspec: Jobspec }
  | { readonly kind: 'cancel'; readonly nth: number }
  | { readonly kind: 'status'; readonly node: number; readonly up: boolean };

const UNITS = ['memory', 'gpu'];

const levels = fc
  .tuple(fc.subarray(['zone', 'rack']), fc.subarray(['socket', 'numa']))
  .map(([above, below]) => [...above, 'node', ...below]);

const shape = fc.record({
  levels,
  below: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 5, maxLength: 5 }),
  cores: fc.integer({ min: 1, max: 5 }),
  gpus: fc.nat(2),
  memory: fc.record({ count: fc.integer({ min: 1, max: 4 }), size: fc.constantFrom(1, 1, 4) }),
  onNodes: fc.boolean(),
  isMany: fc.boolean(),
});

/** Requests that begin at any level and name each level from there on. */
function requests(named: readonly string[]): fc.Arbitrary<JobspecResource> {
  const wrap = (from: number, to: number, below: fc.Arbitrary<JobspecResource>) =>
    named.slice(from, to).reduceRight((one, type) => inside(type, 2, one), below);
  const all = named.flatMap((type, to) =>
    named.slice(0, to + 1).flatMap((_, from) => {
      const whole = [slotsOfWhole(type), bare(type, 2)].map((one) => wrap(from, to, one));
      return to < named.length - 1 ? whole : [...whole, wrap(from, to + 1, slotsOf(UNITS, 3))];
    }),
  );
  return fc.oneof(slotsOf(UNITS, 3), bare('core', 6), ...all);
}

function stepsOn(named: readonly string[]): fc.Arbitrary<JgfStep[]> {
  const jobspec = jobspecs(requests(named));
  const step: fc.Arbitrary<JgfStep> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('match' as const), operation: operations, jobspec }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('satisfiable' as const), jobspec }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), nth: fc.nat(50) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('status' as const), node: fc.nat(8), up: fc.boolean() }),
    },
  );
  return fc.array(step, { minLength: 10, maxLength: 40, size: 'max' });
}

/** The case with this seed. */
export function jgfCaseOf(seed: number): JgfCase {
  const arbitrary = shape.chain((one) =>
    fc.record({
      policy: fc.constantFrom(...ALL),
      graph: fc.constant(levelGraph(one)),
      steps: stepsOn(one.levels),
    }),
  );
  return fc.sample(arbitrary, { seed, numRuns: 1 })[0]!;
}
