import { SortedTimes } from '../../../runtime/scheduler/pass/sorted-times';
import fc from '../../fast-check';

test('has each time that was added more often than removed, once and in order', () => {
  const steps = fc.array(fc.record({ time: fc.integer({ min: 0, max: 12 }), isAdded: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: -1, max: 12 }), (all, after) => {
      const times = new SortedTimes();
      const there: number[] = [];
      for (const { time, isAdded } of all) {
        if (isAdded) there.push(time);
        else if (there.includes(time)) there.splice(there.indexOf(time), 1);
        else continue;
        if (isAdded) times.add(time);
        else times.remove(time);
      }
      const expected = [...new Set(there)].filter((time) => time > after).sort((a, b) => a - b);
      expect(times.after(after)).toEqual(expected);
    }),
  );
});
