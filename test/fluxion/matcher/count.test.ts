import { type CountRange, calcCount, UNLIMITED } from '../../../runtime/fluxion/matcher/count';

const steps = (over: Partial<CountRange>): CountRange => ({
  min: 2,
  max: 10,
  operator: '+',
  operand: 3,
  ...over,
});

test.each<[string, CountRange, number, number]>([
  ['a fixed count', steps({ min: 4, max: 4, operand: 1 }), 9, 4],
  ['nothing below the minimum', steps({}), 1, 0],
  ['the minimum', steps({}), 4, 2],
  ['steps of three', steps({}), 7, 5],
  ['the maximum', steps({}), 100, 8],
  ['doubled counts', steps({ operator: '*', operand: 2, max: 100 }), 31, 16],
  ['squared counts', steps({ operator: '^', operand: 2, max: 100 }), 100, 16],
  ['any count without a maximum', steps({ max: UNLIMITED, operand: 1 }), 1234, 1234],
])('takes %s', (_, range, available, count) => {
  expect(calcCount(range, available)).toBe(count);
});
