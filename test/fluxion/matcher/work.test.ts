/** What one match costs on a large graph, whatever it asks for. */
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import { Traverser } from '../../../runtime/fluxion/matcher/traverser';
import { narrowedTo } from '../../../runtime/jobspec/constraints';
import { jobspecOf } from '../../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../../runtime/jobspec/pod';
import { jobspecWithTaints, NO_TAINTS } from '../../../runtime/jobspec/resolve-taints';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const jobspec = (pods: number, cpu: number, walltime: number, pod: Partial<PodSpec> = {}) =>
  jobspecWithTaints(
    jobspecOf({ pod: { containers: [{ resources: { requests: { cpu } } }], ...pod }, pods, walltime }),
    NO_TAINTS,
  );

/** Terms of which none matches, at the limits of constructs/api/pod-limits.ts. */
const HOSTILE: Partial<PodSpec> = {
  affinity: {
    nodeAffinity: {
      [REQUIRED]: {
        nodeSelectorTerms: times(50, (i) => ({
          matchExpressions: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'NotIn', values: times(6, (k) => `${i}-${k}`) },
            { key: `missing-${i}`, operator: 'Exists' },
          ],
        })),
      },
    },
  },
};

function busyGraph(nodes: number, jobs: number): Matcher {
  const matcher = Matcher.fromNodes(
    times(nodes, (i) => ({ name: `n${i}`, properties: ['a', 'b', `b=${i}`], units: { core: 2 } })),
    { policy: 'lonode' },
  );
  for (let i = 0; i < jobs; i++) {
    const answer = matcher.match({
      jobid: i + 1,
      jobspec: jobspec(1, 2, 100 + i),
      operation: 'allocate',
      now: 0,
    });
    expect(answer.status).toBe('OK');
  }
  return matcher;
}

test('a constraint of hundreds of properties is not compared node by node, nor again for each start', () => {
  const matcher = busyGraph(1000, 500);
  const lookUps = jest.spyOn(Set.prototype, 'has');
  try {
    const hostile = jobspec(1, 1, 60, HOSTILE);
    const answer = matcher.match({
      jobid: 9000,
      jobspec: hostile,
      operation: 'allocate_orelse_reserve',
      now: 1,
    });
    expect(answer.status).toBe('UNSATISFIABLE');
    // Before: as many for each of 1,000 nodes as the terms have properties, and all of that for each of 500 starts.
    expect(lookUps.mock.calls.length).toBeLessThan(5_000);
  } finally {
    lookUps.mockRestore();
  }
});

test('whole nodes are searched at the time from which enough of them may be free', () => {
  const matcher = busyGraph(400, 300);
  const asked = jobspecOf({ pod: { containers: [{}] }, pods: 380, walltime: 60, exclusive: true });
  const whole = jobspecWithTaints(asked, NO_TAINTS);
  const answer = matcher.match({ jobid: 9000, jobspec: whole, operation: 'allocate_orelse_reserve', now: 1 });
  expect(answer).toMatchObject({ status: 'OK', reserved: true, start: 100 + 279 });
});

test('a search with too many starts takes the last one', () => {
  const small = times(4000, (i) => ({ name: `s${i}`, units: { core: 1 } }));
  const large = times(1000, (i) => ({ name: `l${i}`, units: { core: 2 } }));
  const matcher = Matcher.fromNodes([...large, ...small], { policy: 'lonode' });
  for (let i = 0; i < 1000; i++)
    matcher.match({ jobid: i + 1, jobspec: jobspec(1, 2, 100 + i), operation: 'allocate', now: 0 });
  const wide = (pods: number) =>
    ({ jobspec: jobspec(pods, 2, 60), operation: 'allocate_orelse_reserve', now: 1 }) as const;
  expect(matcher.match({ jobid: 8000, ...wide(20) })).toMatchObject({ status: 'OK', start: 119 });
  matcher.cancel(8000);
  // Enough cores are free at once, but the pods need two on one node.
  expect(matcher.match({ jobid: 9000, ...wide(950) })).toMatchObject({
    status: 'OK',
    reserved: true,
    start: 1099,
  });
});

test.each(['lonode', 'high'])('%s: a request for one node by its name scores that node only', (policy) => {
  const nodes = times(200, (i) => ({ name: `n${i}`, properties: ['a'], units: { core: 8, memory: 1000 } }));
  const matcher = Matcher.fromNodes(nodes, { policy });
  const scored = jest.spyOn(Traverser.prototype, 'nodeScoreOf');
  try {
    // As for the usage of pods outside the queue: of each node another one.
    for (const [i, { name }] of nodes.entries()) {
      const used = jobspec(1, 1, 60, {
        containers: [{ resources: { requests: { cpu: 1, memory: `${i + 1}Gi` } } }],
      });
      const asked = narrowedTo(used, { and: [{ hostlist: [name] }, { properties: ['a'] }] });
      const answer = matcher.match({ jobid: i + 1, jobspec: asked, operation: 'allocate', now: 0 });
      expect(answer).toMatchObject({ status: 'OK', allocation: { nodes: [{ name }] } });
    }
    // Before: all 200 nodes for each of 200 requests.
    expect(scored.mock.calls.length).toBeLessThan(10 * nodes.length);
  } finally {
    scored.mockRestore();
  }
});
