import { causeless, doubleGrants } from './log';
import type { Interventions, LoggedEvent, Observation } from './observation';

const granted = (uid: string, core: string, node = 'n1'): LoggedEvent => ({
  at: 0,
  uid,
  event: 'Allocated',
  detail: { nodes: [{ name: node, units: { core } }] },
});
const event = (uid: string, name: string, detail = {}): LoggedEvent => ({ at: 0, uid, event: name, detail });

describe('I1: units that are allocated twice', () => {
  test.each<[string, LoggedEvent[], number]>([
    ['different units', [granted('a', '0-1'), granted('b', '2-3')], 0],
    ['the same unit', [granted('a', '0-1'), granted('b', '1-2')], 1],
    ['different nodes', [granted('a', '0'), granted('b', '0', 'n2')], 0],
    ['one unit after a finish', [granted('a', '0'), event('a', 'Finished'), granted('b', '0')], 0],
    ['one unit after a requeue', [granted('a', '0'), event('a', 'Requeued'), granted('b', '0')], 0],
    [
      'one unit after a shrink',
      [granted('a', '0'), event('a', 'Reallocated', { nodes: [] }), granted('b', '0')],
      0,
    ],
    [
      'a unit that was kept in a shrink',
      [
        granted('a', '0-1'),
        event('a', 'Reallocated', { nodes: [{ name: 'n1', units: { core: '1' } }] }),
        granted('b', '0-1'),
      ],
      1,
    ],
  ])('in a log with allocations of %s', (_, events, count) => {
    expect(doubleGrants(events)).toHaveLength(count);
  });
});

describe('I6: requeued or cancelled without a cause', () => {
  const object = { metadata: { uid: 'a', name: 'a', resourceVersion: '', creationTimestamp: '' } };
  const check = (events: LoggedEvent[], over: Partial<Interventions> = {}) =>
    causeless(
      {
        events,
        jobs: [object],
        pods: [],
        rows: [],
        nodes: [],
        fluxion: { jobs: [], nodes: [] },
      } as unknown as Observation,
      { disturbances: [], lostNodes: new Set(), stopped: new Set(), comparable: true, ...over },
    );

  test('is reported', () => {
    expect(check([granted('a', '0'), event('a', 'Requeued')])).toHaveLength(1);
    expect(check([granted('a', '0'), event('a', 'Finished', { result: 'Cancelled' })])).toHaveLength(1);
  });

  test('is not reported if a node was lost, it was evicted, or its user stopped it', () => {
    const events = [granted('a', '0'), event('a', 'Requeued')];
    expect(check(events, { lostNodes: new Set(['n1']) })).toEqual([]);
    expect(check(events, { stopped: new Set(['a']) })).toEqual([]);
    expect(check([granted('a', '0'), event('a', 'EvictionRequested'), event('a', 'Requeued')])).toEqual([]);
    expect(check([granted('a', '0'), event('a', 'Finished', { result: 'Succeeded' })])).toEqual([]);
  });
});
