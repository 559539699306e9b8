import { podsPerNode } from '../../runtime/jobspec/pods-per-node';
import type { AllocatedNode } from '../../runtime/resources/types';

const ask = (over: object = {}) => ({ pods: 9, perPod: { core: 2, memory: 1 }, exclusive: false, ...over });
const allocation = (...nodes: AllocatedNode[]) => ({ jobid: 1, start: 0, end: 60, nodes });

test('returns as many pods per node as its units make, in the order of the allocation', () => {
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

test('puts one pod of an exclusive workload on a whole node', () => {
  const given = allocation({ name: 'n1', units: { core: '0-63', memory: '0-255' }, exclusive: true });
  expect(podsPerNode(given, ask({ pods: 1, exclusive: true }))).toEqual([{ node: 'n1', pods: 1 }]);
});

test('fills whole nodes of the match policy with the remaining pods', () => {
  const whole = (name: string) => ({ name, units: { core: '0-7', memory: '0-7' }, exclusive: true });
  expect(podsPerNode(allocation(whole('n1'), whole('n2')), ask({ pods: 5 }))).toEqual([
    { node: 'n1', pods: 4 },
    { node: 'n2', pods: 1 },
  ]);
});

test.each<[string, AllocatedNode, object]>([
  ['one core too many', { name: 'n1', units: { core: '0-2', memory: '0' } }, {}],
  ['cores for two pods and memory for one', { name: 'n1', units: { core: '0-3', memory: '0' } }, {}],
  ['a missing type', { name: 'n1', units: { core: '0-1' } }, {}],
  ['no units at all', { name: 'n1', units: {} }, {}],
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
])('refuses %s', (_, node, over) => {
  expect(() => podsPerNode(allocation(node), ask(over))).toThrow(
    expect.objectContaining({ code: 'FLUXQ_ALLOCATION' }),
  );
});
