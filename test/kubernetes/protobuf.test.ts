import { POD } from '../../runtime/kubernetes/pod-messages';
import { MalformedMessage, type Message, MessageReader, message } from '../../runtime/kubernetes/protobuf';
import fc, { cases } from '../fast-check';
import { encoded, podFields, podObject } from './protobuf-encoding';

const reader = new MessageReader();
const INNER = message({ 1: ['name', 'text'] });

function read(fields: Parameters<typeof encoded>[0], table: Message): object {
  return reader.read(encoded(fields), table);
}

/** What the bytes are read as, or the class of the error. */
function outcome(bytes: Buffer, table: Message): unknown {
  try {
    return reader.read(bytes, table);
  } catch (error) {
    return (error as Error).constructor;
  }
}

test('reads a pod as the object that JSON has', () => {
  expect(read(podFields('a', '7'), POD)).toEqual(podObject('a', '7'));
});

test('leaves out empty values where JSON does, and keeps the others', () => {
  const table = message({
    1: ['a', 'text'],
    2: ['b', 'text?'],
    3: ['c', 'number'],
    4: ['d', 'number?'],
    5: ['e', 'flag'],
    6: ['f', 'flag?'],
    7: ['g', 'time'],
    8: ['h', 'time?'],
    9: ['i', 'message', INNER],
    10: ['j', 'texts'],
  });
  const empty = [
    [1, ''],
    [2, ''],
    [3, 0],
    [4, 0],
    [5, false],
    [6, false],
    [7, []],
    [8, []],
    [9, []],
  ] as const;
  expect(read(empty, table)).toEqual({ a: '', c: 0, e: false, g: null, i: {} });
  const full = [
    [1, 'x'],
    [2, 'y'],
    [3, 1],
    [4, 2],
    [5, true],
    [6, true],
    [7, [[1, 5]]],
    [8, [[1, 5]]],
    [9, [[1, 'n']]],
    [10, 'p'],
    [10, ''],
  ] as const;
  expect(read(full, table)).toEqual({
    a: 'x',
    b: 'y',
    c: 1,
    d: 2,
    e: true,
    f: true,
    g: '1970-01-01T00:00:05Z',
    h: '1970-01-01T00:00:05Z',
    i: { name: 'n' },
    j: ['p', ''],
  });
});

test('reads maps of texts and of quantities, also entries without a key or a value', () => {
  const table = message({ 1: ['labels', 'textMap'], 2: ['requests', 'quantityMap'] });
  const fields = [
    [
      1,
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [1, [[2, 'c']]],
    [
      2,
      [
        [1, 'cpu'],
        [2, [[1, '100m']]],
      ],
    ],
    [2, [[1, 'memory']]],
  ] as const;
  expect(read(fields, table)).toEqual({
    labels: { a: 'b', '': 'c' },
    requests: { cpu: '100m', memory: '0' },
  });
});

test.each([0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 32, 2 ** 53 - 1, -1, -(2 ** 31), -(2 ** 40)])(
  'reads the number %d',
  (number) => {
    expect(read([[1, number]], message({ 1: ['number', 'number'] }))).toEqual({ number });
  },
);

test('reads texts of any length and any characters', () => {
  const table = message({ 1: ['texts', 'texts'] });
  const texts = [
    '',
    'a',
    'ä€𝄞',
    'é',
    'x'.repeat(64),
    'x'.repeat(65),
    'ü'.repeat(40),
    'same',
    'same',
    '\u0000',
  ];
  expect(
    read(
      texts.map((text) => [1, text] as const),
      table,
    ),
  ).toEqual({ texts });
});

test.each<[number | bigint, string | null]>([
  [-62_135_596_800, '0001-01-01T00:00:00Z'],
  [253_402_300_799, '9999-12-31T23:59:59Z'],
  [253_402_300_800, '+010000-01-01T00:00:00Z'],
  [2n ** 62n, null],
  [-(2n ** 62n), null],
])('reads the time %d, though a client may have written nonsense', (seconds, time) => {
  expect(read([[1, [[1, seconds]]]], message({ 1: ['time', 'time'] }))).toEqual({ time });
});

test('skips unknown fields of every wire type', () => {
  const tag = (number: number, wireType: number) => encodedNumber(number * 8 + wireType);
  const bytes = Buffer.concat([
    ...[tag(90, 0), encodedNumber(2 ** 40)],
    ...[tag(91, 1), Buffer.alloc(8)],
    ...[tag(92, 2), encodedNumber(3), Buffer.from('abc')],
    ...[tag(93, 5), Buffer.alloc(4)],
    encoded([[1, 'kept']]),
  ]);
  expect(reader.read(bytes, INNER)).toEqual({ name: 'kept' });
});

test.each([
  ['a length behind the end', [10, 5, 97]],
  ['a length of 2^63', [10, 255, 255, 255, 255, 255, 255, 255, 255, 127]],
  ['a number without an end', [8, ...new Array(12).fill(255)]],
  ['a number that is cut', [8, 255]],
  ['a text that should be a number', encoded([[2, 'x']])],
  ['a number that should be a text', encoded([[1, 5]])],
  ['a field that ends behind its message', [26, 1, 10, 1, 97]],
  ['a number that ends behind its message', [26, 2, 80, 128, 1]],
  ['a group', [11, 12]],
  ['a deep nesting of groups', new Array(100_000).fill(11)],
  ['an unknown wire type', [15]],
  ['a skipped length behind the end', [250, 5, 100]],
  ['a skipped number of 8 bytes that is cut', [249, 5, 1]],
  ['an entry that ends behind its map', [42, 2, 10, 5, 97, 97, 97, 97, 97]],
])('refuses %s', (_, bytes) => {
  const table = message({
    1: ['text', 'text'],
    2: ['number', 'number'],
    3: ['inner', 'message', INNER],
    5: ['map', 'textMap'],
  });
  expect(() => reader.read(Buffer.from(bytes), table)).toThrow(MalformedMessage);
});

test('reads a pod again after bytes that were refused', () => {
  expect(outcome(Buffer.from([10, 5]), POD)).toBe(MalformedMessage);
  expect(read(podFields('a', '7'), POD)).toEqual(podObject('a', '7'));
});

test('reads or refuses every beginning of a pod', () => {
  const bytes = encoded(podFields('a', '7'));
  for (let end = 0; end < bytes.length; end += 1)
    expect([MalformedMessage, Object]).toContain(kindOf(outcome(bytes.subarray(0, end), POD)));
});

const { numRuns, milliseconds } = cases(5_000);
test(
  'reads or refuses a pod whose bytes were changed',
  () => {
    const bytes = encoded(podFields('a', '7'));
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const changed = Buffer.from(bytes);
        for (const [at, byte] of changes) changed[at] = byte;
        expect([MalformedMessage, Object]).toContain(kindOf(outcome(changed, POD)));
      }),
      { numRuns },
    );
  },
  milliseconds,
);

function kindOf(result: unknown): unknown {
  return typeof result === 'object' ? Object : result;
}

function encodedNumber(number: number): Buffer {
  const bytes: number[] = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
