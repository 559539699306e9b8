import { inOrder, priorityOf } from '../../../runtime/scheduler/pass/order';
import { orderedRow as row } from './ordered';
import { queueSettings } from './settings';

test('sorts by priority, then by submission, then by arrival', () => {
  const [young, old, tie, urgent] = [
    row({ submittedAt: 9 }),
    row({ submittedAt: 1 }),
    row({ submittedAt: 1 }),
    row({ submittedAt: 10, priority: 1 }),
  ];
  expect(inOrder([young, tie, urgent, old])).toEqual([urgent, old, tie, young]);
});

test('cuts priorities to the range of the queue', () => {
  const settings = queueSettings({ priority: { min: -1, max: 5 } });
  expect([-7, -1, 3, 100].map((priority) => priorityOf({ priority }, settings))).toEqual([-1, -1, 3, 5]);
  const [first, loud] = [row({ submittedAt: 1, priority: 5 }), row({ submittedAt: 2, priority: 9 })];
  expect(inOrder([loud, first], { now: 10, settingsOf: () => settings })).toEqual([first, loud]);
});

test('raises the priority of waiting rows if aging is on', () => {
  const [old, urgent] = [row({ submittedAt: 0 }), row({ submittedAt: 7200, priority: 10 })];
  const at = (agingPerHour: number, now: number) =>
    inOrder([old, urgent], { now, settingsOf: () => queueSettings({ agingPerHour }) })[0];
  expect(at(6, 7200)).toBe(old);
  expect(at(4, 7200)).toBe(urgent);
  expect(at(0, 1e9)).toBe(urgent);
});

test('compares shares after priority and before submission, first of queues, then of users', () => {
  const [a, b, c, d] = [
    row({ queue: 'a', user: 'x', submittedAt: 1 }),
    row({ queue: 'b', user: 'x', submittedAt: 2 }),
    row({ queue: 'b', user: 'y', submittedAt: 3 }),
    row({ queue: 'a', user: 'x', submittedAt: 4, priority: 1 }),
  ];
  const shares = {
    queue: (name: string) => (name === 'b' ? 0.9 : 0.1),
    user: (_: string, user: string) => (user === 'y' ? 0.8 : 0.2),
  };
  expect(inOrder([a, b, c, d], { now: 0, settingsOf: () => undefined, shares })).toEqual([d, c, b, a]);
});
