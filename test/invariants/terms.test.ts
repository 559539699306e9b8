import type { Interventions, LoggedEvent } from './observation';
import { changedTerms } from './terms';

const granted = (at: number, seconds: number, core = '0-1', node = 'n1'): LoggedEvent => ({
  at,
  uid: 'a',
  event: 'Allocated',
  detail: { start: at, end: at + seconds, nodes: [{ name: node, units: { core } }] },
});
const submitted: LoggedEvent = { at: 0, uid: 'a', event: 'Submitted', detail: { queue: 'q' } };

const NOTHING: Interventions = {
  disturbances: [],
  losses: [],
  services: false,
  stopped: new Set(),
  closures: [],
  changes: [],
  queueChanges: [],
  comparable: true,
};
const check = (events: readonly LoggedEvent[], over: Partial<Interventions> = {}) =>
  changedTerms([submitted, ...events], { ...NOTHING, ...over }).map(({ text }) => text);

test('the same units of other nodes for the same time are the same terms', () => {
  expect(check([granted(10, 600), granted(90, 600, '4-5', 'n2')])).toEqual([]);
});

test('a shorter walltime or fewer units after a requeue are reported', () => {
  expect(check([granted(10, 604_800), granted(90, 3600)])).toEqual([
    'a was granted 2 core for 3600 s after 2 core for 604800 s',
  ]);
  expect(check([granted(10, 600), granted(90, 600, '0')])).toHaveLength(1);
});

test('a change by the user, or of the queue, explains other terms', () => {
  const events = [granted(10, 600), granted(90, 3600)];
  expect(check(events, { changes: [{ uid: 'a', at: 50 }] })).toEqual([]);
  expect(check(events, { queueChanges: [{ queue: 'q', at: 50 }] })).toEqual([]);
  expect(check(events, { changes: [{ uid: 'b', at: 50 }] })).toHaveLength(1);
  expect(check(events, { queueChanges: [{ queue: 'q', at: 1 }] })).toHaveLength(1);
});

test.each<[string, Partial<Interventions>]>([
  ['while a node is lost', { losses: [{ node: 'n9', from: 50, until: 50, backAt: 95 }] }],
  ['beside services', { services: true }],
])('fewer pods of the same size are no other terms %s', (_, over) => {
  expect(check([granted(10, 600), granted(90, 600, '0')], over)).toEqual([]);
  expect(check([granted(10, 600), granted(90, 60, '0')], over)).toHaveLength(1);
});

test('fewer pods are other terms once the lost nodes are back', () => {
  const losses = [{ node: 'n9', from: 20, until: 20, backAt: 60 }];
  expect(check([granted(10, 600), granted(90, 600, '0')], { losses })).toHaveLength(1);
});

test('fewer pods, and no more again, are no other terms once a task of an array is done', () => {
  const progressed = new Set(['a']);
  expect(check([granted(10, 600), granted(90, 600, '0')], { progressed })).toEqual([]);
  expect(check([granted(10, 600, '0'), granted(90, 600)], { progressed })).toHaveLength(1);
  expect(check([granted(10, 600), granted(90, 600, '0')], { progressed: new Set(['b']) })).toHaveLength(1);
});
