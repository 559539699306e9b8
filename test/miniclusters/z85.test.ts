import { decodeZ85, encodeZ85 } from '../../runtime/miniclusters/z85';

// The test case of ZMQ RFC 32.
const BYTES = Uint8Array.from([0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b]);

test('encodes and decodes the example of the RFC', () => {
  expect(encodeZ85(BYTES)).toBe('HelloWorld');
  expect(decodeZ85('HelloWorld')).toEqual(BYTES);
});

test('decodes what it encoded, for every byte', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  expect(decodeZ85(encodeZ85(bytes))).toEqual(bytes);
  expect(decodeZ85('%nSc0')).toEqual(Uint8Array.from([0xff, 0xff, 0xff, 0xff]));
});

test.each([
  ['a length that is not a multiple of five', 'Hell'],
  ['a character outside the alphabet', 'Hell '],
  ['a value above four bytes', '#####'],
  ['a value of one above four bytes', '%nSc1'],
])('refuses %s', (_what, text) => {
  expect(decodeZ85(text)).toBeUndefined();
});
