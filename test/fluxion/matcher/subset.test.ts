/** Both engines refuse the same requests: the library is not asked, because it does not answer these in a defined way. */
import { DEFAULT_PRUNE_FILTERS } from '../../../runtime/fluxion/engine';
import { GraphLayout } from '../../../runtime/fluxion/jgf/layout';
import type { FluxionLibrary } from '../../../runtime/fluxion/library/bindings';
import { Session } from '../../../runtime/fluxion/library/session';
import { Matcher } from '../../../runtime/fluxion/matcher/matcher';
import { TimeAxis } from '../../../runtime/fluxion/time-axis';
import type { Jobspec, JobspecResource } from '../../../runtime/jobspec/types';
import type { GraphNode } from '../../../runtime/resources/types';
import { jobspecOf } from './arbitraries';

const NODES: GraphNode[] = [
  { name: 'n0', units: { core: 2, dongle: 0 }, rack: 'r0' },
  { name: 'n1', units: { core: 2, 'example.com/fpga': 1 }, zone: 'z0' },
];
const slot = (...inside: JobspecResource[]): JobspecResource => ({
  type: 'slot',
  count: 1,
  label: 'task',
  with: inside,
});
const core: JobspecResource = { type: 'core', count: 1 };
const wholeNode = (inside: JobspecResource, count = 1): JobspecResource => ({
  type: 'node',
  count,
  exclusive: true,
  with: [inside],
});
const unknown = 'Value of "type" must be a resource type known to fluxion';
const invalid = 'traverser: Invalid argument';

/** A library that must not be asked. */
const library = { open: () => ({ destroy() {} }) } as unknown as FluxionLibrary;

function create(nodes: readonly GraphNode[]) {
  const layout = new GraphLayout(nodes);
  const source = { policy: 'lonode', layout, jgf: undefined, pruneFilters: DEFAULT_PRUNE_FILTERS } as const;
  const session = new Session(library, source, new TimeAxis(0));
  const matcher = Matcher.fromNodes(nodes, { policy: 'lonode' });
  const answers = (jobspec: Jobspec) => [
    matcher.match({ jobid: 1, jobspec, operation: 'allocate', now: 0 }),
    session.match(1, jobspec, 'allocate', 60),
  ];
  const satisfiable = (jobspec: Jobspec) => [matcher.satisfiable(jobspec), session.satisfiable(jobspec)];
  return { matcher, session, answers, satisfiable };
}

test.each<[string, Jobspec, string]>([
  ['a type that no vertex has', jobspecOf(slot({ type: 'dongle', count: 1 })), unknown],
  ['a duration below 0', jobspecOf(wholeNode(slot(core)), -1), invalid],
  ['a duration of more than 100 years', jobspecOf(wholeNode(slot(core)), 3_153_600_001), invalid],
  ['a count of 0', jobspecOf(wholeNode(slot(core), 0)), invalid],
  ['no resources', { ...jobspecOf(core), resources: [] }, invalid],
  ['an unknown constraint', { ...jobspecOf(slot(core), 10, { some: [] } as never) }, 'unknown constraint'],
  ['nothing to allocate', jobspecOf(core), 'allocates no resources'],
  ['a slot in a slot', jobspecOf(slot({ ...core, with: [slot(core)] })), 'a slot inside a slot'],
  ['two slots', { ...jobspecOf(core), resources: [slot(core), slot(core)] }, 'two siblings'],
  ['an empty slot', jobspecOf(slot()), 'a slot without resources'],
  ['exclusive: false in a slot', jobspecOf(slot({ ...core, exclusive: false })), '"exclusive: false"'],
  ['a slot that skips a level', jobspecOf({ type: 'rack', count: 1, with: [slot(core)] }), 'must name'],
])('refuses %s, and asks no library', (_, jobspec, text) => {
  const { answers, satisfiable } = create(NODES);
  const refused = expect.stringContaining(text);
  for (const answer of answers(jobspec)) expect(answer).toEqual({ status: 'INVALID', text: refused });
  for (const answer of satisfiable(jobspec)) expect(answer).toEqual({ satisfiable: false, text: refused });
});

test('refuses a type from the moment when its last node is removed', () => {
  const { matcher, session, answers } = create(NODES);
  const zone = jobspecOf(slot({ type: 'zone', count: 1 }));
  const fpga = jobspecOf(slot({ type: 'example.com/fpga', count: 1 }));
  expect(matcher.satisfiable(fpga).satisfiable).toBe(true);
  matcher.removeNodes(['n1']);
  session.removeNodes(['n1']);
  for (const jobspec of [zone, fpga])
    for (const answer of answers(jobspec)) expect(answer).toEqual({ status: 'INVALID', text: unknown });
});

test('in a graph without nodes, only the types of flux-sched and of the pruning filters are known', () => {
  const { answers } = create([]);
  for (const type of ['core', 'gpu', 'memory'])
    for (const { status } of answers(jobspecOf(slot({ type, count: 1 })))) expect(status).toBe('BUSY');
  for (const { status } of answers(jobspecOf(slot({ type: 'zone', count: 1 }))))
    expect(status).toBe('INVALID');
});
