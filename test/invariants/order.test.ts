import { rowIn } from '../queue/rows';
import type { LoggedEvent } from './observation';
import { orderViolations } from './order';

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
const interventions = {
  disturbances: [],
  lostNodes: new Set<string>(),
  closures: [],
  changes: [],
  stopped: new Set<string>(),
  comparable: true,
};
const faults = (events: LoggedEvent[], over = {}) =>
  orderViolations([...came, ...events], rows, { ...interventions, ...over }).map(
    ({ invariant }) => invariant,
  );
const reserved = (at: number, estimatedStart: number) =>
  log(at, 'b', 'Waiting', { reason: 'Reserved', estimatedStart });

describe('I4: equal workloads start in the order of submission', () => {
  test('reports that the later of two equal workloads starts first', () => {
    expect(faults([log(100, 'b', 'Allocated', { end: 160 })])).toEqual(['I4']);
    const later = log(2, 'b', 'Waiting', { reason: 'Reserved' });
    expect(faults([later, log(100, 'b', 'Allocated', { end: 160 })])).toEqual(['I4']);
  });

  test.each<[string, LoggedEvent[]]>([
    [
      'the earlier workload starts first',
      [log(100, 'a', 'Allocated', { end: 160 }), log(101, 'b', 'Allocated', { end: 160 })],
    ],
    ['both start in one pass', [log(3, 'b', 'Allocated', { end: 63 })]],
    [
      'both start in one statement',
      [log(100, 'b', 'Allocated', { end: 160 }), log(100, 'a', 'Allocated', { end: 160 })],
    ],
    [
      'the earlier workload is held',
      [log(2, 'a', 'Waiting', { reason: 'Held' }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
    [
      'the earlier workload was adopted',
      [log(2, 'a', 'Adopted', { end: 160 }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
    [
      'both have reservations',
      [
        log(2, 'a', 'Waiting', { reason: 'Reserved' }),
        log(2, 'b', 'Waiting', { reason: 'Reserved' }),
        log(100, 'b', 'Allocated', { end: 160 }),
      ],
    ],
    [
      'the later workload has a higher priority',
      [log(2, 'b', 'Updated', { ...detail, priority: 5 }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
  ])('reports nothing if %s', (_, events) => {
    expect(faults(events)).toEqual([]);
  });
});

describe('I5: an estimated start is not postponed', () => {
  test('reports a postponed start without a reason', () => {
    expect(faults([reserved(10, 100), reserved(20, 100), reserved(30, 120)])).toEqual(['I5']);
    expect(faults([reserved(10, 100), reserved(20, 90), reserved(30, 95)])).toEqual(['I5']);
  });

  test.each<[string, LoggedEvent[], object]>([
    ['the start moves earlier', [], {}],
    ['another workload moves ahead', [log(25, 'a', 'Updated', { ...detail, priority: 5 })], {}],
    [
      'an earlier workload gets its dependency and starts',
      [log(19, 'a', 'Waiting', { reason: 'DependencyPending' }), log(25, 'a', 'Allocated', { end: 85 })],
      {},
    ],
    ['a node was lost', [], { disturbances: [25] }],
    ['estimates are not comparable', [], { comparable: false }],
  ])('reports nothing if %s', (name, between, over) => {
    const last = name === 'the start moves earlier' ? 80 : 120;
    expect(faults([reserved(20, 100), ...between, reserved(30, last)], over)).toEqual([]);
  });

  test('reports nothing if another workload overran its walltime', () => {
    const late = [
      log(9, 'a', 'Allocated', { end: 25 }),
      reserved(20, 100),
      reserved(30, 101),
      log(40, 'a', 'Finished'),
    ];
    expect(faults([...late, reserved(41, 120)])).toEqual([]);
  });
});
