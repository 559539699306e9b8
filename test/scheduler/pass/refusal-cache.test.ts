import { jobspecOf } from '../../../runtime/jobspec/jobspec';
import { refusals } from '../../../runtime/scheduler/pass/refusal-cache';
import fc from '../../fast-check';

interface Ask {
  pods?: number;
  cpu?: number;
  gpus?: number;
  walltime?: number;
  exclusive?: boolean;
  zone?: string;
}

function ask({ pods = 2, cpu = 2, gpus = 0, walltime = 60, exclusive = false, zone }: Ask = {}) {
  const requests = { cpu, ...(gpus > 0 ? { 'example.com/fpga': gpus } : {}) };
  const nodeSelector = zone === undefined ? {} : { zone };
  return jobspecOf({
    pod: { containers: [{ resources: { requests } }], nodeSelector },
    pods,
    walltime,
    exclusive,
  });
}

test.each<[string, Ask, boolean]>([
  ['the same', {}, true],
  ['more pods', { pods: 3 }, true],
  ['larger pods', { cpu: 3 }, true],
  ['longer', { walltime: 61 }, true],
  ['another resource on top', { gpus: 1 }, true],
  ['fewer pods', { pods: 1 }, false],
  ['smaller pods, more of them', { cpu: 1, pods: 9 }, false],
  ['shorter', { walltime: 59 }, false],
  ['other nodes', { zone: 'a' }, false],
  ['whole nodes', { exclusive: true }, false],
])('a refusal of 2 pods with 2 cores for 60 s, then %s', (_, other, covered) => {
  const refused = refusals({ compareWalltime: true });
  refused.add(ask());
  expect(refused.covers(ask(other))).toBe(covered);
});

test('covers a shorter walltime if walltimes are not compared', () => {
  const refused = refusals({ compareWalltime: false });
  refused.add(ask());
  expect(refused.covers(ask({ walltime: 1 }))).toBe(true);
});

test('covers what any of its refusals covers, in whatever order they were added', () => {
  const asks = fc.record({
    pods: fc.integer({ min: 1, max: 4 }),
    cpu: fc.integer({ min: 1, max: 4 }),
    walltime: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(fc.array(asks, { maxLength: 8 }), asks, (added, asked) => {
      const refused = refusals({ compareWalltime: true });
      for (const one of added) {
        refused.add(ask(one));
      }
      const any = added.some(
        (a) => asked.pods >= a.pods && asked.cpu >= a.cpu && asked.walltime >= a.walltime,
      );
      expect(refused.covers(ask(asked))).toBe(any);
    }),
  );
});
