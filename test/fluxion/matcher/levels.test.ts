/** Zones and racks: as a whole, and after nodes were added and removed. What is expected is what flux-sched 0.54 answers. */

import { DEFAULT_PRUNE_FILTERS } from '../../../runtime/fluxion/engine';
import { GraphLayout } from '../../../runtime/fluxion/jgf/layout';
import type { FluxionLibrary } from '../../../runtime/fluxion/library/bindings';
import { Session } from '../../../runtime/fluxion/library/session';
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import { TimeAxis } from '../../../runtime/fluxion/time-axis';
import { jobspecOf as queueJobspecOf } from '../../../runtime/jobspec/jobspec';
import { jobspecWithTaints, NO_TAINTS } from '../../../runtime/jobspec/resolve-taints';
import type { JobspecResource } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import { toJgf } from '../to-jgf';
import { jobspecOf } from './arbitraries';

const at = (name: string, zone: string, rack: string): GraphNode => ({
  name,
  units: { core: 2 },
  zone,
  rack,
});
const NODES = [at('n0', 'z0', 'r0'), at('n1', 'z0', 'r0'), at('n2', 'z1', 'r0'), at('n3', 'z1', 'r1')];
const slot = (type: string, count: number, inside: readonly JobspecResource[] = []): JobspecResource => ({
  type: 'slot',
  count: 1,
  label: 'task',
  with: [{ type, count, ...(inside.length === 0 ? {} : { with: inside }) }],
});

function create(policy = 'lonode') {
  const matcher = Matcher.fromNodes(NODES, { policy });
  const reserve = (jobid: number, resource: JobspecResource, duration = 60) => {
    const answer = matcher.match({
      jobid,
      jobspec: jobspecOf(resource, duration),
      operation: 'allocate_orelse_reserve',
      now: 0,
    });
    if (answer.status !== 'OK') return answer.status;
    return [answer.start, ...answer.allocation.nodes.map(({ name }) => name)];
  };
  const jobs = () =>
    matcher.state(0).jobs.map(({ jobid, nodes }) => [jobid, ...nodes.map(({ name }) => name)]);
  return { matcher, reserve, jobs };
}

test('grants racks and zones as a whole, with all of their nodes', () => {
  const { matcher, reserve } = create();
  // The racks of one slot are in one zone.
  expect(reserve(1, slot('rack', 2))).toEqual([0, 'n2', 'n3']);
  expect(matcher.state(0).nodes.map(({ free }) => free.core)).toEqual([2, 2, 0, 0]);
  expect(reserve(2, slot('core', 2))).toEqual([0, 'n0']);
  expect(create().reserve(1, slot('zone', 2))).toEqual([0, 'n0', 'n1', 'n2', 'n3']);
  expect(create().reserve(1, slot('rack', 4))).toBe('UNSATISFIABLE');
  expect(create('high').reserve(1, slot('rack', 1, [{ type: 'node', count: 1 }]))).toEqual([0, 'n3']);
});

test('tries no reservation at the end of a job that holds only racks', () => {
  const { reserve } = create();
  expect(reserve(1, slot('zone', 2), 20)).toEqual([0, 'n0', 'n1', 'n2', 'n3']);
  expect(reserve(2, slot('core', 1))).toBe('BUSY');
  const other = create();
  other.reserve(1, slot('rack', 2), 20);
  other.reserve(2, slot('node', 2), 40);
  expect(other.reserve(3, slot('core', 1))).toEqual([40, 'n0']);
});

test('frees the nodes of a rack that is held as a whole one by one', () => {
  const { matcher, reserve, jobs } = create();
  reserve(1, slot('rack', 1));
  expect(matcher.partialCancel(1, ['n3'])).toBe(false);
  expect(matcher.partialCancel(1, ['n0'])).toBe(false);
  expect(jobs()).toEqual([[1, 'n1']]);
  expect(reserve(2, slot('core', 2))).toEqual([0, 'n0']);
  expect(matcher.removeNodes(['n1'])).toEqual([1]);
  expect(jobs()).toEqual([[2, 'n0']]);
});

test('loses the jobs of a rack whose last node is removed', () => {
  const { matcher, reserve, jobs } = create();
  reserve(1, slot('rack', 1));
  expect(matcher.removeNodes(['n0', 'n1'])).toEqual([1]);
  expect(jobs()).toEqual([]);
  expect(reserve(2, slot('zone', 1))).toEqual([0, 'n2', 'n3']);
});

test('refuses a slot that skips a level, and a slot in every other place is answered', () => {
  const { matcher } = create();
  const text = 'a slot in "rack" must name the level between them: rack, node, slot';
  const skipping = jobspecOf({ type: 'rack', count: 1, with: [slot('core', 1)] });
  const request = { jobid: 1, jobspec: skipping, operation: 'allocate', now: 0 } as const;
  expect(matcher.match(request)).toEqual({ status: 'INVALID', text });
  expect(matcher.satisfiable(skipping)).toEqual({ satisfiable: false, text });
  const { reserve } = create();
  expect(reserve(1, { type: 'zone', count: 1, with: [slot('node', 1)] })).toBe('INVALID');
  expect(reserve(1, { type: 'rack', count: 1, with: [slot('node', 1)] })).toEqual([0, 'n0']);
  expect(reserve(2, { type: 'node', count: 1, with: [slot('core', 1)] })).toEqual([0, 'n1']);
});

test('answers what the queue asks for, which names no level above the nodes', () => {
  const { matcher } = create();
  const pod = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] };
  for (const exclusive of [false, true]) {
    const asked = queueJobspecOf({ pod, pods: 4, walltime: 60, exclusive });
    const jobspec = jobspecWithTaints(asked, NO_TAINTS);
    const { status } = matcher.match({ jobid: 1, jobspec, operation: 'without_allocating', now: 0 });
    expect(status).toBe('OK');
  }
});

test('refuses the same requests before it asks the library', () => {
  const library = { open: () => ({}) } as unknown as FluxionLibrary;
  const source = {
    policy: 'lonode',
    layout: new GraphLayout(NODES),
    pruneFilters: DEFAULT_PRUNE_FILTERS,
  } as const;
  for (const jgf of [undefined, JSON.stringify(toJgf(NODES))]) {
    const session = new Session(library, { ...source, jgf }, new TimeAxis(0));
    const skipping = jobspecOf({ type: 'zone', count: 1, with: [slot('node', 1)] });
    const text = 'a slot in "zone" must name the level between them: zone, rack, slot';
    expect(session.match(1, skipping, 'allocate', 60)).toEqual({ status: 'INVALID', text });
    expect(session.satisfiable(skipping)).toEqual({ satisfiable: false, text });
  }
});

test('keeps the order in which levels were added, in both engines', () => {
  const matcher = Matcher.fromNodes(NODES, { policy: 'lonode' });
  const layout = new GraphLayout(NODES);
  const again = at('n4', 'z0', 'r0');
  const late = at('n5', 'z1', 'r0');
  for (const name of ['n0', 'n1']) {
    matcher.removeNodes([name]);
    layout.remove(name);
  }
  matcher.addNodes([again, late]);
  layout.add([again, late]);
  const paths = layout.jgf().graph.nodes.map(({ metadata }) => metadata.paths!.containment!);
  const levels = paths.filter((path) => !path.includes('core') && !/n\d$/.test(path));
  // Zone z0 was empty, so it comes after z1.
  expect(levels).toEqual([
    '/cluster0',
    '/cluster0/zone=z1',
    '/cluster0/zone=z1/rack=r0',
    '/cluster0/zone=z1/rack=r1',
    '/cluster0/zone=z0',
    '/cluster0/zone=z0/rack=r0',
  ]);
  expect(layout.nodesBelow('/cluster0/zone=z1')).toEqual(['n2', 'n5', 'n3']);
  const answer = matcher.match({
    jobid: 1,
    jobspec: jobspecOf(slot('zone', 2)),
    operation: 'allocate',
    now: 0,
  });
  const nodes = answer.status === 'OK' ? answer.allocation.nodes.map(({ name }) => name) : [];
  expect(nodes).toEqual(['n2', 'n5', 'n3', 'n4']);
});
