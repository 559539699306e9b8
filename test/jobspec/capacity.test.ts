import { embeddedFluxion } from '../../runtime/fluxion/matcher/engine';
import { capacityOf } from '../../runtime/jobspec/capacity';
import { unsatisfiableText } from '../../runtime/jobspec/explain';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { GraphNode } from '../../runtime/resources/types';
import fc from '../fast-check';

const node = fc.record({
  core: fc.integer({ min: 1, max: 4 }),
  gpu: fc.integer({ min: 0, max: 2 }),
  zone: fc.constantFrom('a', 'b'),
  up: fc.boolean(),
});

const asks = fc.record({
  pods: fc.integer({ min: 1, max: 8 }),
  cpu: fc.integer({ min: 1, max: 5 }),
  gpus: fc.integer({ min: 0, max: 2 }),
  exclusive: fc.boolean(),
  zone: fc.constantFrom(undefined, 'a', 'b', 'c'),
});

test('agrees with Fluxion about satisfiable jobspecs, with nodes up or down, with and without zones', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(node, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      fc.array(asks, { minLength: 1, maxLength: 5 }),
      async (given, zoned, asked) => {
        const nodes = given.map(
          ({ core, gpu, zone, up }, i): GraphNode => ({
            name: `n${i}`,
            units: { core, ...(gpu > 0 ? { gpu } : {}) },
            properties: [`zone=${zone}`, ...(gpu > 0 ? ['resource:example.com/gpu'] : [])],
            up,
            ...(zoned ? { zone } : {}),
          }),
        );
        const fluxion = embeddedFluxion();
        await fluxion.init({ nodes, policy: 'lonode', now: 0 });
        const capacity = capacityOf(nodes);
        for (const { pods, cpu, gpus, exclusive, zone } of asked) {
          const requests = { cpu, ...(gpus > 0 ? { 'example.com/gpu': gpus } : {}) };
          const nodeSelector = zone === undefined ? {} : { zone };
          const pod = { containers: [{ resources: { requests } }], nodeSelector };
          const jobspec = jobspecOf({ pod, pods, walltime: 60, exclusive });
          const { satisfiable } = await fluxion.satisfiable(jobspec);
          expect(capacity.fits(jobspec)).toBe(satisfiable);
          expect(unsatisfiableText(jobspec, nodes) === undefined).toBe(satisfiable);
        }
      },
    ),
    { numRuns: 200 },
  );
});
