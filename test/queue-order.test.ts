import { compareListed, holdsNodes, isActive, type Listed } from '../runtime/queue-order';

const listed = (over: Partial<Listed>): Listed => ({ queue: 'a', created: '2026-11-23T12:00:00Z', ...over });

test('lists what runs, what waits by its position, and what has ended with the newest first', () => {
  const order: readonly Listed[] = [
    listed({ phase: 'Ready', created: '2026-11-23T11:00:00Z' }),
    listed({ phase: 'Running' }),
    listed({ phase: 'Waiting', position: 2 }),
    listed({ phase: 'Waiting', position: 10 }),
    listed({ created: '2026-11-23T11:00:00Z' }),
    listed({}),
    listed({ phase: 'Waiting', queue: 'b', position: 1 }),
    listed({ phase: 'Finished' }),
    listed({ phase: 'Finished', created: '2026-11-23T11:00:00Z' }),
  ];
  expect(order.toReversed().sort(compareListed)).toEqual(order);
});

test('lists names of queues as an apiserver does', () => {
  const names = ['a-b', 'a/b', 'a1', 'ab', 'b'];
  const order = names
    .toReversed()
    .map((queue) => listed({ queue }))
    .sort(compareListed);
  expect(order.map(({ queue }) => queue)).toEqual(names);
});

test.each([
  ['Ready', true, true],
  ['Running', true, true],
  ['Waiting', false, true],
  [undefined, false, true],
  ['', false, true],
  ['Finished', false, false],
])('phase %j holds nodes: %j, and is active: %j', (phase, holds, active) => {
  expect([holdsNodes({ phase }), isActive({ phase })]).toEqual([holds, active]);
});
