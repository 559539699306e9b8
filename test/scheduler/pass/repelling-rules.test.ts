import { isAbout } from '../../../runtime/jobspec/placement-rules';
import type { GroupRule } from '../../../runtime/jobspec/types';
import { RepellingRules } from '../../../runtime/scheduler/pass/repelling-rules';
import fc from '../../fast-check';
import { HOST, other, web } from './rules';
import { nodesOf, Simulation } from './simulation';

const names = fc.constantFrom('a', 'b', 'c');
const labels = fc.dictionary(names, names, { maxKeys: 3 });
const selector = fc.record(
  {
    matchLabels: labels,
    matchExpressions: fc.array(
      fc.record({
        key: names,
        operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
        values: fc.array(names, { maxLength: 2 }),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
);
const rules: fc.Arbitrary<GroupRule> = fc
  .record({ namespaces: fc.array(names, { maxLength: 2 }), selector }, { requiredKeys: [] })
  .map((pods) => ({ topologyKey: HOST, self: false, ...pods }));

test('repel the pods that one of the rules is about', () => {
  fc.assert(
    fc.property(fc.array(rules, { maxLength: 4 }), names, labels, (all, namespace, ofPod) => {
      const repelling = new RepellingRules();
      for (const rule of all) repelling.add(rule);
      const traits = { namespace, labels: ofPod };
      expect(repelling.repel(traits)).toBe(all.some((rule) => isAbout(rule, traits)));
    }),
  );
});

test('keep a rule that many pods have once', () => {
  const repelling = new RepellingRules();
  const rule = { topologyKey: HOST, namespaces: ['a'], selector: web, self: true };
  expect([repelling.isEmpty, repelling.add(rule), repelling.isEmpty]).toEqual([true, true, false]);
  expect([repelling.add({ ...rule }), repelling.add({ ...rule, namespaces: ['b'] })]).toEqual([false, true]);
});

/** A pass over workloads that wait behind another one. @returns how often a rule of one of the pods was compared or read */
async function comparisons(
  workloads: number,
  pods: number,
  selectorOf: (i: number) => object,
): Promise<number> {
  const sim = await Simulation.of(nodesOf(1, 1));
  let reads = 0;
  for (let i = 0; i < pods; i++) {
    const rule: GroupRule = {
      topologyKey: HOST,
      namespaces: ['science'],
      self: true,
      get selector() {
        reads += 1;
        return selectorOf(i);
      },
    };
    sim.others.push(other('n1', { rules: { apart: [rule] } }));
  }
  for (let i = 0; i < workloads; i++) sim.submit(`job-${i}`, { labels: { app: 'job', job: `${i}` } });
  await sim.pass();
  return reads;
}

test.each<[string, (i: number) => object]>([
  ['equal rules', () => web],
  ['a rule of its own each', (i) => ({ matchLabels: { app: `web-${i}` } })],
])('a pass compares no workload with every pod that has anti-affinity, with %s', async (_, selectorOf) => {
  // Before: each of the workloads with each of the pods, twice.
  expect(await comparisons(60, 100, selectorOf)).toBeLessThan(4 * 100);
});
