import { doubleGrants, unexplainedChanges } from './log';
import type { Interventions, LoggedEvent, Observation } from './observation';

const granted = (uid: string, core: string, node = 'n1'): LoggedEvent => ({
  at: 0,
  uid,
  event: 'Allocated',
  detail: { nodes: [{ name: node, units: { core } }] },
});
const event = (uid: string, name: string, detail = {}): LoggedEvent => ({ at: 0, uid, event: name, detail });

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

describe('I1: no unit is granted twice', () => {
  test.each<[string, LoggedEvent[], number]>([
    ['other units of a node', [granted('a', '0-1'), granted('b', '2-3')], 0],
    ['a unit that is held', [granted('a', '0-1'), granted('b', '1-2')], 1],
    ['the same unit of another node', [granted('a', '0'), granted('b', '0', 'n2')], 0],
    ['a unit of a finished workload', [granted('a', '0'), event('a', 'Finished'), granted('b', '0')], 0],
    ['a unit of a requeued workload', [granted('a', '0'), event('a', 'Requeued'), granted('b', '0')], 0],
    [
      'a unit that was freed early',
      [granted('a', '0'), event('a', 'Reallocated', { nodes: [] }), granted('b', '0')],
      0,
    ],
    [
      'a unit that was kept',
      [
        granted('a', '0-1'),
        event('a', 'Reallocated', { nodes: [{ name: 'n1', units: { core: '1' } }] }),
        granted('b', '0-1'),
      ],
      1,
    ],
    [
      'units that two adopted workloads have exchanged',
      [
        granted('a', '0'),
        granted('b', '1'),
        event('a', 'Adopted', { nodes: [{ name: 'n1', units: { core: '1' } }] }),
        event('b', 'Adopted', { nodes: [{ name: 'n1', units: { core: '0' } }] }),
      ],
      0,
    ],
    [
      'a unit to two adopted workloads',
      ['a', 'b'].map((uid) => event(uid, 'Adopted', { nodes: [{ name: 'n1', units: { core: '1' } }] })),
      1,
    ],
  ])('checks a grant of %s', (_, events, count) => {
    expect(doubleGrants(events)).toHaveLength(count);
  });
});

describe('I6: no workload is requeued or cancelled without a cause', () => {
  const object = { metadata: { uid: 'a', name: 'a', resourceVersion: '', creationTimestamp: '' } };
  const look = (events: LoggedEvent[], over: Partial<Interventions> = {}) =>
    unexplainedChanges(
      {
        events,
        jobs: [object],
        pods: [],
        rows: [],
        nodes: [],
        fluxion: { jobs: [], nodes: [] },
      } as unknown as Observation,
      { ...NOTHING, ...over },
    );

  test('reports a requeue and a cancel without a cause', () => {
    expect(look([granted('a', '0'), event('a', 'Requeued')])).toHaveLength(1);
    expect(look([granted('a', '0'), event('a', 'Finished', { result: 'Cancelled' })])).toHaveLength(1);
  });

  test('accepts a lost node, an eviction, and a stop by the user as causes', () => {
    const events = [granted('a', '0'), event('a', 'Requeued')];
    expect(look(events, { losses: [{ node: 'n1', from: -9, until: -4, backAt: 0 }] })).toEqual([]);
    expect(look(events, { losses: [{ node: 'n1', from: -99, until: -61, backAt: 0 }] })).toHaveLength(1);
    expect(look(events, { losses: [{ node: 'n2', from: -9, until: -4, backAt: 0 }] })).toHaveLength(1);
    expect(look(events, { stopped: new Set(['a']) })).toEqual([]);
    expect(look([granted('a', '0'), event('a', 'EvictionRequested'), event('a', 'Requeued')])).toEqual([]);
    expect(look([granted('a', '0'), event('a', 'Finished', { result: 'Succeeded' })])).toEqual([]);
  });

  test('accepts a change by the user, or of its queue, as the cause only if it came after the row was written', () => {
    const message = 'what it asks for, or its queue, changed after the grant; requeued';
    const events = [
      { ...event('a', 'Submitted', { queue: 'lab/default' }), at: 60 },
      { ...event('a', 'Updated'), at: 90 },
      granted('a', '0'),
      { ...event('a', 'Requeued', { message }), at: 100 },
    ];
    const changed = (at: number, uid = 'a') => look(events, { changes: [{ uid, at }] });
    expect(changed(95)).toEqual([]);
    expect(changed(89)).toHaveLength(1);
    expect(changed(101)).toHaveLength(1);
    expect(changed(95, 'b')).toHaveLength(1);
    const queued = (at: number, queue = 'lab/default') => look(events, { queueChanges: [{ queue, at }] });
    expect([queued(95), queued(86)]).toEqual([[], []]);
    for (const found of [queued(84), queued(101), queued(95, 'lab/other')]) expect(found).toHaveLength(1);
    expect(look(events, { injectedSince: 100 })).toEqual([]);
    expect(look(events, { injectedSince: 101 })).toHaveLength(1);
    const other = [...events.slice(0, 3), event('a', 'Requeued', { message: 'requeued' })];
    expect(look(other, { changes: [{ uid: 'a', at: 95 }] })).toHaveLength(1);
  });

  test('accepts a closed node as the cause for a bare pod only, and only while it is closed', () => {
    const bare = { message: 'a did not run on n1: no controller would create it again' };
    const closed = (from: number, until: number) => ({ closures: [{ node: 'n1', from, until }] });
    const requeued = { ...event('a', 'Requeued', bare), at: 100 };
    expect(look([granted('a', '0'), requeued], closed(40, 101))).toEqual([]);
    expect(look([granted('a', '0'), requeued], closed(40, 90))).toHaveLength(1);
    const other = { ...requeued, detail: { message: 'requeued' } };
    expect(look([granted('a', '0'), other], closed(40, 101))).toHaveLength(1);
  });
});
