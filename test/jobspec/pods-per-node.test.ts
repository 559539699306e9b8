import { podsPerNode } from '../../runtime/jobspec/pods-per-node';
import type { AllocatedNode } from '../../runtime/resources/types';

const ask = (over: object = {}) => ({ pods: 9, perPod: { core: 2, memory: 1 }, exclusive: false, ...over });
const allocation = (...nodes: AllocatedNode[]) => ({ jobid: 1, start: 0, end: 60, nodes });

test('as many pods as the units of each node make, in the order of the allocation', () => {
  const given = allocation(
    { name: 'n9', units: { core: '0-3', memory: '0,5' } },
    { name: 'n1', units: { core: '6-7', memory: '3' } },
    { name: 'n5', units: { core: '0-1,4-5,8-9', memory: '0-2' } },
  );
  expect(podsPerNode(given, ask())).toEqual([
    { node: 'n9', pods: 2 },
    { node: 'n1', pods: 1 },
    { node: 'n5', pods: 3 },
  ]);
});

test('a whole node takes one pod of an exclusive workload', () => {
  const given = allocation({ name: 'n1', units: { core: '0-63', memory: '0-255' }, exclusive: true });
  expect(podsPerNode(given, ask({ pods: 1, exclusive: true }))).toEqual([{ node: 'n1', pods: 1 }]);
});

test('whole nodes by policy take what is left, as many as fit', () => {
  const whole = (name: string) => ({ name, units: { core: '0-7', memory: '0-7' }, exclusive: true });
  expect(podsPerNode(allocation(whole('n1'), whole('n2')), ask({ pods: 5 }))).toEqual([
    { node: 'n1', pods: 4 },
    { node: 'n2', pods: 1 },
  ]);
});

test.each<[string, AllocatedNode, object]>([
  ['a core too many', { name: 'n1', units: { core: '0-2', memory: '0' } }, {}],
  ['cores of two pods, memory of one', { name: 'n1', units: { core: '0-3', memory: '0' } }, {}],
  ['a type missing', { name: 'n1', units: { core: '0-1' } }, {}],
  ['nothing at all', { name: 'n1', units: {} }, {}],
  [
    'a whole node that is too small',
    { name: 'n1', units: { core: '0', memory: '0' }, exclusive: true },
    { exclusive: true },
  ],
  [
    'more whole nodes than pods',
    { name: 'n1', units: { core: '0-7', memory: '0-7' }, exclusive: true },
    { pods: 0 },
  ],
])('%s is refused', (_, node, over) => {
  expect(() => podsPerNode(allocation(node), ask(over))).toThrow(
    expect.objectContaining({ code: 'FLUXQ_ALLOCATION' }),
  );
});
