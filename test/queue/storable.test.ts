import { storable } from '../../runtime/queue/storable';
import fc from '../fast-check';

const clean = (text: string) => text.replace(/\p{Surrogate}|\0/gu, '');

test('removes NUL and halves of surrogate pairs everywhere, and nothing else', () => {
  const given = { message: 'a\0b \ud83d c \ud83d\ude00', deep: [{ 'k\0': 'x\udc00' }], n: 1.5, none: null };
  expect(JSON.parse(storable(given))).toEqual({
    message: 'ab  c \ud83d\ude00',
    deep: [{ k: 'x' }],
    n: 1.5,
    none: null,
  });
});

test('keeps text that looks like an escape', () => {
  const given = { path: 'C:\\u0000\\ud83d', quote: '\\"\\\\u0000"\0' };
  expect(JSON.parse(storable(given))).toEqual({ path: 'C:\\u0000\\ud83d', quote: '\\"\\\\u0000"' });
});

test('returns any text without the characters that cannot be stored', () => {
  const nasty = fc.string({
    unit: fc.constantFrom('\0', '\ud83d', '\ude00', '\\', '"', 'u0000', 'ud83d', 'a', '\n'),
  });
  fc.assert(
    fc.property(fc.array(nasty), (texts) => {
      expect(JSON.parse(storable(texts))).toEqual(texts.map(clean));
    }),
    { numRuns: 1000 },
  );
});
