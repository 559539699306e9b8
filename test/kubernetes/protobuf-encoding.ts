/** Writes protobuf for tests, as the apiserver does. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Of one field: a text or bytes, a number as int64, or a message in it. */
type Value = string | Uint8Array | number | bigint | boolean | Fields;
type Fields = readonly (readonly [number: number, value: Value])[];

export function encoded(fields: Fields): Buffer {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) writeField(writer, number, value);
  return Buffer.from(writer.finish());
}

function writeField(writer: BinaryWriter, number: number, value: Value): void {
  if (typeof value === 'boolean') writer.tag(number, WireType.Varint).bool(value);
  else if (typeof value === 'number' || typeof value === 'bigint')
    writer.tag(number, WireType.Varint).int64(value.toString());
  else if (typeof value === 'string') writer.tag(number, WireType.LengthDelimited).string(value);
  else if (value instanceof Uint8Array) writer.tag(number, WireType.LengthDelimited).bytes(value);
  else writer.tag(number, WireType.LengthDelimited).bytes(encoded(value));
}

/** An object as the apiserver sends it. */
export function enveloped(kind: string, fields: Fields): Buffer {
  const typeMeta: Fields = [
    [1, 'v1'],
    [2, kind],
  ];
  const envelope: Fields = [
    [1, typeMeta],
    [2, encoded(fields)],
    [3, ''],
    [4, ''],
  ];
  return Buffer.concat([Buffer.from('k8s\0'), encoded(envelope)]);
}

/** An event of a watch, without the length before it. */
export function eventOf(type: string, object: Buffer): Buffer {
  return encoded([
    [1, type],
    [2, [[1, object]]],
  ]);
}

/** With its length before it. */
export function framed(event: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** A pod with its name, version, a request of CPU and a phase. */
export function podFields(name: string, resourceVersion: string): Fields {
  const requests: Fields = [[2, pair('cpu', [[1, '2']])]];
  const container: Fields = [
    [1, 'main'],
    [2, ''],
    [8, requests],
  ];
  const spec: Fields = [
    [2, container],
    [10, ''],
  ];
  return [
    [1, metadataFields(name, resourceVersion)],
    [2, spec],
    [3, [[1, 'Pending']]],
  ];
}

function metadataFields(name: string, resourceVersion: string): Fields {
  const managed: Fields = [
    [1, 'manager'],
    [7, [[1, '{"f:spec":{}}']]],
  ];
  return [
    [1, name],
    [3, 'default'],
    [5, `uid-${name}`],
    [6, resourceVersion],
    [8, [[1, 1_764_000_000]]],
    [11, pair('app', 'x')],
    [17, managed],
  ];
}

/** An entry of a map. */
function pair(key: string, value: Value): Fields {
  return [
    [1, key],
    [2, value],
  ];
}

/** What {@link podFields} is in JSON. */
export function podObject(name: string, resourceVersion: string) {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion,
      creationTimestamp: '2025-11-24T16:00:00Z',
      labels: { app: 'x' },
    },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] },
    status: { phase: 'Pending' },
  };
}

/** metav1.Status. */
export function statusFields(code: number, reason: string, text: string, retryAfterSeconds = 0): Fields {
  return [
    [1, []],
    [2, 'Failure'],
    [3, text],
    [4, reason],
    [
      5,
      [
        [1, ''],
        [3, 'pods'],
        [5, retryAfterSeconds],
      ],
    ],
    [6, code],
  ];
}
