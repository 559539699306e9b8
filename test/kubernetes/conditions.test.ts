import { rfc3339, stamped } from '../../runtime/kubernetes/conditions';

const READY = { type: 'Ready', status: 'True', reason: 'Serving', message: 'at work' };

test('a condition keeps its transition time when only reason or message change', () => {
  const first = stamped(READY, undefined, 100);
  expect(first).toEqual({ ...READY, lastTransitionTime: '1970-01-01T00:01:40Z' });
  const stalled = stamped({ type: 'Stalled', status: 'True' }, [first], 150);
  expect(stalled.lastTransitionTime).toBe(rfc3339(150));
  const same = stamped({ ...READY, message: 'still at work' }, [stalled, first], 200);
  expect(same).toEqual({ ...first, message: 'still at work' });
  const turned = stamped({ ...READY, status: 'False' }, [stalled, same], 300);
  expect(turned.lastTransitionTime).toBe(rfc3339(300));
});

test('times are rounded down to whole seconds', () => {
  expect(rfc3339(1_700_000_000.9)).toBe('2023-11-14T22:13:20Z');
});
