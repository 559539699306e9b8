import { causeless, doubleGrants } from './log';
import type { Deeds, LoggedEvent, Observation } from './observation';

const granted = (uid: string, core: string, node = 'n1'): LoggedEvent => ({
  at: 0,
  uid,
  event: 'Allocated',
  detail: { nodes: [{ name: node, units: { core } }] },
});
const event = (uid: string, name: string, detail = {}): LoggedEvent => ({ at: 0, uid, event: name, detail });

describe('I1: units granted twice', () => {
  test.each<[string, LoggedEvent[], number]>([
    ['side by side', [granted('a', '0-1'), granted('b', '2-3')], 0],
    ['the same unit', [granted('a', '0-1'), granted('b', '1-2')], 1],
    ['on another node', [granted('a', '0'), granted('b', '0', 'n2')], 0],
    ['one after the other', [granted('a', '0'), event('a', 'Finished'), granted('b', '0')], 0],
    ['after a requeue', [granted('a', '0'), event('a', 'Requeued'), granted('b', '0')], 0],
    [
      'after it was let go',
      [granted('a', '0'), event('a', 'Reallocated', { nodes: [] }), granted('b', '0')],
      0,
    ],
    [
      'what was kept',
      [
        granted('a', '0-1'),
        event('a', 'Reallocated', { nodes: [{ name: 'n1', units: { core: '1' } }] }),
        granted('b', '0-1'),
      ],
      1,
    ],
  ])('%s', (_, events, count) => {
    expect(doubleGrants(events)).toHaveLength(count);
  });
});

describe('I6: requeued or cancelled without a cause', () => {
  const object = { metadata: { uid: 'a', name: 'a', resourceVersion: '', creationTimestamp: '' } };
  const look = (events: LoggedEvent[], over: Partial<Deeds> = {}) =>
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

  test('is told', () => {
    expect(look([granted('a', '0'), event('a', 'Requeued')])).toHaveLength(1);
    expect(look([granted('a', '0'), event('a', 'Finished', { result: 'Cancelled' })])).toHaveLength(1);
  });

  test('not when its node was lost, it was taken back, or its user stopped it', () => {
    const events = [granted('a', '0'), event('a', 'Requeued')];
    expect(look(events, { lostNodes: new Set(['n1']) })).toEqual([]);
    expect(look(events, { stopped: new Set(['a']) })).toEqual([]);
    expect(look([granted('a', '0'), event('a', 'EvictionRequested'), event('a', 'Requeued')])).toEqual([]);
    expect(look([granted('a', '0'), event('a', 'Finished', { result: 'Succeeded' })])).toEqual([]);
  });
});
