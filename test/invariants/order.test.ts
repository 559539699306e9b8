import { rowIn } from '../queue/rows';
import type { LoggedEvent } from './observation';
import { orderViolations } from './order';

const rows = ['a', 'b', 'wide'].map((uid, i) =>
  rowIn('Waiting', { uid, name: uid, seq: i, submittedAt: i, shape: uid === 'wide' ? 'w' : 's' }),
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
  losses: [],
  services: false,
  closures: [],
  changes: [],
  queueChanges: [],
  stopped: new Set<string>(),
  comparable: true,
};
const faults = (events: LoggedEvent[], over = {}) =>
  orderViolations([...came, ...events], rows, { ...interventions, ...over }).map(
    ({ invariant }) => invariant,
  );
const reserved = (at: number, estimatedStart: number | null, uid = 'b') =>
  log(at, uid, 'Waiting', { reason: 'Reserved', estimatedStart });
const started = (at: number, uid: string) => log(at, uid, 'Allocated', { end: at + 60 });

describe('I4: equal workloads start in the order of submission', () => {
  test('reports that the later of two equal workloads starts first', () => {
    expect(faults([log(100, 'b', 'Allocated', { end: 160 })])).toEqual(['I4']);
    expect(faults([log(2, 'a', 'Waiting', { reason: 'Busy' }), started(100, 'b')])).toEqual(['I4']);
    expect(faults([started(100, 'b'), log(100, 'a', 'Waiting', { reason: 'Busy' })])).toEqual(['I4']);
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
      'the pass that starts the later one is the first to see that the earlier one depends on another',
      [started(100, 'b'), log(100, 'a', 'Waiting', { reason: 'DependencyPending' })],
    ],
    [
      'the earlier workload was adopted',
      [log(2, 'a', 'Adopted', { end: 160 }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
    [
      'the later workload has a higher priority',
      [log(2, 'b', 'Updated', { ...detail, priority: 5 }), log(100, 'b', 'Allocated', { end: 160 })],
    ],
  ])('reports nothing if %s', (_, events) => {
    expect(faults(events)).toEqual([]);
  });
});

describe('I4: equal workloads that both have reservations', () => {
  const both = [reserved(10, 1050, 'a'), reserved(10, 1055)];
  const held = log(2, 'a', 'Waiting', { reason: 'Held' });
  const back = log(20, 'a', 'Waiting', { reason: 'Busy' });

  test.each<[string, LoggedEvent[]]>([
    ['the earlier one starts by its estimate, too', [...both, started(1040, 'b'), started(1050, 'a')]],
    [
      'a node is lost before the earlier one starts',
      [...both, started(1040, 'b'), log(1045, 'b', 'Requeued'), started(1070, 'a')],
    ],
    [
      'its user holds the earlier one',
      [...both, started(1040, 'b'), log(1045, 'a', 'Waiting', { reason: 'Held' }), started(1070, 'a')],
    ],
    [
      'the earlier one was held when the later one got its reservation',
      [held, reserved(10, 1055), back, started(1040, 'b')],
    ],
    [
      'a workload overruns its walltime, so that their starts are not known',
      [
        log(3, 'wide', 'Allocated', { end: 9 }),
        reserved(10, null, 'a'),
        reserved(10, null),
        started(40, 'b'),
      ],
    ],
    [
      'the later one was reserved behind an overrun, which ends, and the earlier one starts by its estimate',
      [
        log(3, 'wide', 'Allocated', { end: 20 }),
        reserved(10, 1050, 'a'),
        reserved(25, null),
        log(30, 'wide', 'Finished'),
        started(40, 'b'),
        started(1050, 'a'),
      ],
    ],
  ])('may start in the other order if %s', (_, events) => {
    expect(faults(events)).toEqual([]);
  });

  test.each<[string, LoggedEvent[]]>([
    ['the earlier one starts after its estimate', [...both, started(1040, 'b'), started(1060, 'a')]],
    ['the later one starts after its estimate', [...both, started(1070, 'b')]],
    [
      'the earlier one was held, and the later one starts after its estimate',
      [held, reserved(10, 1055), back, started(1070, 'b')],
    ],
    [
      'the earlier one was held, but not any more when the later one got its reservation',
      [held, back, reserved(30, 1055), started(1040, 'b')],
    ],
    ['their starts are not known', [reserved(10, null, 'a'), reserved(10, null), started(1040, 'b')]],
    [
      'the later one was reserved without an estimate before a workload overran its walltime',
      [
        reserved(10, 1050, 'a'),
        reserved(10, null),
        log(11, 'wide', 'Allocated', { end: 20 }),
        started(40, 'b'),
      ],
    ],
  ])('may not start in the other order if %s', (_, events) => {
    expect(faults(events)).toEqual(['I4']);
  });
});

describe('I5: an estimated start is not postponed', () => {
  test('reports a postponed start without a reason', () => {
    expect(faults([reserved(10, 100), reserved(20, 100), reserved(30, 120)])).toEqual(['I5']);
    expect(faults([reserved(10, 100), reserved(20, 90), reserved(30, 95)])).toEqual(['I5']);
    const forQuota = (at: number, estimatedStart: number) =>
      log(at, 'b', 'Waiting', { reason: 'QuotaExceeded', estimatedStart });
    expect(faults([forQuota(10, 100), forQuota(20, 120)])).toEqual(['I5']);
    expect(faults([forQuota(10, 100), reserved(20, 120)])).toEqual(['I5']);
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
