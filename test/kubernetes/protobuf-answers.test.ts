import { POD } from '../../runtime/kubernetes/pod-messages';
import { MalformedMessage } from '../../runtime/kubernetes/protobuf';
import { ProtobufAnswers, readStatus } from '../../runtime/kubernetes/protobuf-answers';
import { encoded, enveloped, eventOf, podFields, podObject, statusFields } from './protobuf-encoding';

const answers = new ProtobufAnswers();
const POD_A = enveloped('Pod', podFields('a', '7'));

test('reads a page of a list', () => {
  const metadata = [
    [1, ''],
    [2, '9'],
    [3, 'next'],
    [4, 12],
  ] as const;
  const list = enveloped('PodList', [
    [1, metadata],
    [2, podFields('a', '7')],
    [2, podFields('b', '8')],
  ]);
  expect(answers.list(list, POD)).toEqual({
    metadata: { resourceVersion: '9', continue: 'next', remainingItemCount: 12 },
    items: [podObject('a', '7'), podObject('b', '8')],
  });
});

test('reads an empty list', () => {
  expect(
    answers.list(
      enveloped('PodList', [
        [
          1,
          [
            [2, '9'],
            [3, ''],
          ],
        ],
      ]),
      POD,
    ),
  ).toEqual({
    metadata: { resourceVersion: '9' },
    items: [],
  });
});

test.each(['ADDED', 'MODIFIED', 'DELETED'])('reads an event %s', (type) => {
  expect(answers.event(eventOf(type, POD_A), POD)).toEqual({ type, object: podObject('a', '7') });
});

test('reads a bookmark', () => {
  const bookmark = enveloped('Pod', [
    [
      1,
      [
        [1, ''],
        [6, '42'],
        [8, []],
      ],
    ],
    [2, []],
    [3, []],
  ]);
  expect(answers.event(eventOf('BOOKMARK', bookmark), POD)).toEqual({
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: '42' }, spec: {}, status: {} },
  });
});

test('reads an error event', () => {
  const status = enveloped('Status', statusFields(410, 'Expired', 'too old resource version'));
  expect(answers.event(eventOf('ERROR', status), POD)).toEqual({
    type: 'ERROR',
    object: { code: 410, reason: 'Expired', message: 'too old resource version', details: { kind: 'pods' } },
  });
});

test('reads a Status with a wait and causes', () => {
  const cause = [
    [1, 'FieldValueInvalid'],
    [2, 'must be set'],
    [3, 'spec'],
  ] as const;
  expect(
    readStatus(
      enveloped('Status', [
        [
          5,
          [
            [4, cause],
            [5, 3],
          ],
        ],
        [6, 429],
      ]),
    ),
  ).toEqual({
    code: 429,
    details: {
      retryAfterSeconds: 3,
      causes: [{ reason: 'FieldValueInvalid', message: 'must be set', field: 'spec' }],
    },
  });
});

test.each<[string, () => unknown]>([
  ['JSON', () => answers.list(Buffer.from('{"items":[]}'), POD)],
  ['an empty answer', () => answers.list(Buffer.alloc(0), POD)],
  ['a list without metadata', () => answers.list(enveloped('PodList', []), POD)],
  [
    'an item without metadata',
    () =>
      answers.list(
        enveloped('PodList', [
          [1, []],
          [2, []],
        ]),
        POD,
      ),
  ],
  ['an empty event', () => answers.event(Buffer.alloc(0), POD)],
  ['an event without an object', () => answers.event(encoded([[1, 'ADDED']]), POD)],
  ['an event of an unknown type', () => answers.event(eventOf('MOVED', POD_A), POD)],
  ['an object without metadata', () => answers.event(eventOf('ADDED', enveloped('Pod', [])), POD)],
  ['a compressed object', () => readStatus(Buffer.concat([Buffer.from('k8s\0'), encoded([[3, 'gzip']])]))],
])('refuses %s', (_, read) => {
  expect(read).toThrow(MalformedMessage);
});
