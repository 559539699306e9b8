import { type CountRange, calcCount, UNLIMITED } from '../../../runtime/fluxion/matcher/count';

const steps = (over: Partial<CountRange>): CountRange => ({
  min: 2,
  max: 10,
  operator: '+',
  operand: 3,
  ...over,
});

test.each<[string, CountRange, number, number]>([
  ['exactly what is asked', steps({ min: 4, max: 4, operand: 1 }), 9, 4],
  ['less than the least', steps({}), 1, 0],
  ['the least', steps({}), 4, 2],
  ['steps of three', steps({}), 7, 5],
  ['at most the most', steps({}), 100, 8],
  ['doubling', steps({ operator: '*', operand: 2, max: 100 }), 31, 16],
  ['squaring', steps({ operator: '^', operand: 2, max: 100 }), 100, 16],
  ['no most at all', steps({ max: UNLIMITED, operand: 1 }), 1234, 1234],
])('takes %s', (_, range, available, count) => {
  expect(calcCount(range, available)).toBe(count);
});
