import { CRD_WALLTIME_PATTERN, formatDuration, parseDuration } from '../../../constructs/api/durations';
import fc from '../../fast-check';
import { CRD_DURATION_PATTERN, CRD_QUEUE_WALLTIME_PATTERN } from './crd-patterns';

test.each([
  ['5400', 5400],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['1h2m3s', 3723],
  ['250µs', 250e-6],
  ['+2m', 120],
  ['0s', 0],
  ['2d', 172_800],
  ['1d12h', 129_600],
  // The forms of Slurm, as its manual lists them for --time.
  ['1-12', 129_600],
  ['1-12:30', 131_400],
  ['1-12:00:00', 129_600],
  ['01:30:00', 5400],
  ['72:00:00', 259_200],
  ['90:00', 5400],
])('%s is %d seconds', (text, seconds) => {
  expect(parseDuration(text)).toBeCloseTo(seconds, 9);
});

test.each([
  '',
  'soon',
  '-5m',
  '1h30',
  '90 m',
  '1e3',
  'Infinity',
  '1 hour',
  '1-',
  '-1:00',
  '1:2:3:4',
  '1-2:3:4:5',
  '+1:00',
  '1:30m',
  '1.5:00',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

/** A number in a duration has at most 12 digits. */
test('a formatted duration is read back, and fits the fields of the CRDs', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999_999_999 }), (milliseconds) => {
      const text = formatDuration(milliseconds);
      expect(text).toMatch(new RegExp(CRD_DURATION_PATTERN));
      expect(parseDuration(text)).toBeCloseTo(milliseconds / 1000, 6);
    }),
  );
});

test.each([
  [7_200_000, '2h'],
  [5_400_000, '90m'],
  [61_000, '61s'],
  [1_500, '1500ms'],
])('%d ms are written %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

test('every duration of a CRD is read', () => {
  const texts = fc.oneof(
    fc.stringMatching(new RegExp(CRD_DURATION_PATTERN)),
    fc.stringMatching(new RegExp(CRD_QUEUE_WALLTIME_PATTERN)),
    fc.stringMatching(new RegExp(CRD_WALLTIME_PATTERN)),
  );
  const short = texts.filter((text) => !/[0-9]{10}/.test(text));
  fc.assert(fc.property(short, (text) => expect(parseDuration(text)).toBeGreaterThanOrEqual(0)));
});
