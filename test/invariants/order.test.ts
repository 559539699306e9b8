import { rowIn } from '../queue/rows';
import type { LoggedEvent } from './observation';
import { orderFaults } from './order';

const rows = ['a', 'b'].map((uid, i) =>
  rowIn('Waiting', { uid, name: uid, seq: i, submittedAt: i, shape: 's' }),
);
const detail = { queue: 'default', priority: 0, walltime: 60, held: false };
const log = (at: number, uid: string, event: string, more = {}): LoggedEvent => ({
  at,
  uid,
  event,
  detail: more,
});
const came = [log(0, 'a', 'Submitted', detail), log(1, 'b', 'Submitted', detail)];
const deeds = {
  disturbances: [],
  lostNodes: new Set<string>(),
  stopped: new Set<string>(),
  comparable: true,
};
const faults = (events: LoggedEvent[], over = {}) =>
  orderFaults([...came, ...events], rows, { ...deeds, ...over }).map(({ invariant }) => invariant);
const reserved = (at: number, estimatedStart: number) =>
  log(at, 'b', 'Waiting', { reason: 'Reserved', estimatedStart });

describe('I4: first come, first served among equals', () => {
  test('the later one first', () => {
    expect(faults([log(100, 'b', 'Allocated', { end: 160 })])).toEqual(['I4']);
  });

  test.each<[string, LoggedEvent[]]>([
    [
      'the earlier one first',
      [log(100, 'a', 'Allocated', { end: 160 }), log(101, 'b', 'Allocated', { end: 160 })],
    ],
    ['both in one pass', [log(3, 'b', 'Allocated', { end: 63 })]],
    [
      'the earlier one stands aside',
      [log(2, 'a', 'Waiting', { reason: 'Held' }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
    [
      'the later one was more urgent',
      [log(2, 'b', 'Updated', { ...detail, priority: 5 }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
  ])('%s', (_, events) => {
    expect(faults(events)).toEqual([]);
  });
});

describe('I5: an estimated start never moves later', () => {
  test('without a reason', () => {
    expect(faults([reserved(10, 100), reserved(20, 100), reserved(30, 120)])).toEqual(['I5']);
    expect(faults([reserved(10, 100), reserved(20, 90), reserved(30, 95)])).toEqual(['I5']);
  });

  test.each<[string, LoggedEvent[], object]>([
    ['it moves earlier', [], {}],
    ['somebody came before it', [log(25, 'a', 'Updated', { ...detail, priority: 5 })], {}],
    [
      'somebody before it, who had stood aside, was granted at once',
      [log(19, 'a', 'Waiting', { reason: 'DependencyPending' }), log(25, 'a', 'Allocated', { end: 85 })],
      {},
    ],
    ['a node was lost', [], { disturbances: [25] }],
    ['passes can not be compared', [], { comparable: false }],
  ])('unless %s', (name, between, over) => {
    const last = name === 'it moves earlier' ? 80 : 120;
    expect(faults([reserved(20, 100), ...between, reserved(30, last)], over)).toEqual([]);
  });

  test('unless somebody stayed longer than he said', () => {
    const late = [
      log(9, 'a', 'Allocated', { end: 25 }),
      reserved(20, 100),
      reserved(30, 101),
      log(40, 'a', 'Finished'),
    ];
    expect(faults([...late, reserved(41, 120)])).toEqual([]);
  });
});
