import { spanText } from '../../runtime/cli/durations';

test.each([
  [0, '0s'],
  [-5, '0s'],
  [0.4, '0s'],
  [59.6, '1m'],
  [61, '1m1s'],
  [5400, '1h30m'],
  [3600, '1h'],
  [86_400 * 2 + 3 * 3600 + 59, '2d3h'],
  [86_400 + 60, '1d'],
])('%d seconds are %s', (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});
