/**
 * Reads messages of Kubernetes in protobuf as the objects that its JSON has: a table names the fields that are read, and all
 * others are skipped. A pod takes a third of the time of JSON.parse. Generated classes would have another shape (times and
 * quantities are messages, empty values are there), so that everything would be built twice.
 *
 * Truncated and hostile bytes are a MalformedMessage: every length ends inside its message, and messages are as deep as
 * their tables.
 */
import { TextCache } from './text-cache';

/** The bytes are not the expected message. */
export class MalformedMessage extends Error {}

/** The fields that are read, by their numbers. */
export type Message = readonly (Field | undefined)[];

interface Field {
  readonly name: string;
  readonly wireType: number;
  readonly read: Read;
  /** Of a field whose value is a message. */
  readonly message: Message;
}

/** The bytes of an object as it was sent, with what was not read of it. */
export const ENCODED_BYTES = Symbol('encoded bytes');

type Properties = Record<string | symbol, unknown>;
/** Reads one value, which ends at `end` unless it is a number, into the property of the field. */
type Read = (source: MessageReader, field: Field, into: Properties, end: number) => void;

const NOTHING = Buffer.alloc(0);

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

/** Seconds before and after 1970 that a Date can have. */
const LAST_TIME = 8_640_000_000_000;

/**
 * The kinds of fields. The apiserver writes every field that is not a pointer, even if it is empty; JSON leaves most of
 * these out (`omitempty`). These are the kinds with `?`.
 */
const KINDS = {
  text: (source, { name }, into, end) => {
    into[name] = source.text(end);
  },
  'text?': (source, { name }, into, end) => {
    const text = source.text(end);
    if (text !== '') into[name] = text;
  },
  texts: (source, { name }, into, end) => {
    listIn(into, name).push(source.text(end));
  },
  number: (source, { name }, into) => {
    into[name] = source.signed();
  },
  'number?': (source, { name }, into) => {
    const number = source.signed();
    if (number !== 0) into[name] = number;
  },
  flag: (source, { name }, into) => {
    into[name] = source.varint() !== 0;
  },
  'flag?': (source, { name }, into) => {
    if (source.varint() !== 0) into[name] = true;
  },
  /** A metav1.Time, which JSON writes as null if it is zero. */
  time: (source, { name }, into, end) => {
    into[name] = source.time(end) ?? null;
  },
  'time?': (source, { name }, into, end) => {
    const time = source.time(end);
    if (time !== undefined) into[name] = time;
  },
  message: (source, { name, message }, into, end) => {
    into[name] = source.message(message, end, {});
  },
  messages: (source, { name, message }, into, end) => {
    listIn(into, name).push(source.message(message, end, {}));
  },
  /** Whole objects of the apiserver. */
  objects: (source, { name, message }, into, end) => {
    listIn(into, name).push(source.object(message, end));
  },
  /** A struct that Go embeds: JSON has its fields in the object around it. */
  embedded: (source, { message }, into, end) => {
    source.message(message, end, into);
  },
  textMap: (source, { name }, into, end) => {
    const { key = '', value = '' } = source.message(TEXT_ENTRY, end, {}) as Entry;
    mapIn(into, name)[key] = value;
  },
  quantityMap: (source, { name }, into, end) => {
    const { key = '', value = '0' } = source.message(QUANTITY_ENTRY, end, {}) as Entry;
    mapIn(into, name)[key] = value;
  },
  bytes: (source, { name }, into, end) => {
    into[name] = source.bytes(end);
  },
} satisfies Record<string, Read>;

type Kind = keyof typeof KINDS;
const NUMBERS: ReadonlySet<string> = new Set<Kind>(['number', 'number?', 'flag', 'flag?']);

/** @param rows by the numbers of the fields */
export function message(
  rows: Readonly<Record<number, readonly [name: string, kind: Kind, message?: Message]>>,
): Message {
  const fields: Field[] = [];
  for (const [number, [name, kind, nested = []]] of Object.entries(rows)) {
    const wireType = NUMBERS.has(kind) ? VARINT : DELIMITED;
    fields[Number(number)] = { name, wireType, read: KINDS[kind], message: nested };
  }
  return fields;
}

const TIME = message({ 1: ['seconds', 'number'] });
const TEXT_ENTRY = message({ 1: ['key', 'text'], 2: ['value', 'text'] });
const QUANTITY_ENTRY = message({
  1: ['key', 'text'],
  2: ['quantity', 'embedded', message({ 1: ['value', 'text'] })],
});

interface Entry {
  readonly key?: string;
  readonly value?: string;
}

export class MessageReader {
  #bytes: Buffer = NOTHING;
  /** May be behind the end for as long as a message is read. */
  #position = 0;
  readonly #texts = new TextCache();
  readonly #times = new Map<number, string>();

  /**
   * @param start where the message begins
   * @param into what gets its fields
   * @throws MalformedMessage
   */
  read(bytes: Buffer, fields: Message, start = 0, into: Properties = {}): object {
    this.#bytes = bytes;
    this.#position = start;
    const object = this.message(fields, bytes.length, into);
    this.#bytes = NOTHING;
    return object;
  }

  message(fields: Message, end: number, into: Properties): Properties {
    while (this.#position < end) {
      const tag = this.varint();
      const wireType = tag & 7;
      const field = fields[tag >>> 3];
      if (field === undefined) this.#skip(wireType);
      else if (wireType !== field.wireType)
        throw new MalformedMessage(`${field.name} has wire type ${wireType}`);
      else if (wireType === DELIMITED) field.read(this, field, into, this.#end(end));
      else field.read(this, field, into, end);
    }
    if (this.#position > end) throw new MalformedMessage('a field is longer than its message');
    return into;
  }

  /** A message that knows how large it was. */
  object(fields: Message, end: number): Properties {
    return this.message(fields, end, sized(end - this.#position));
  }

  text(end: number): string {
    const text = this.#texts.get(this.#bytes, this.#position, end);
    this.#position = end;
    return text;
  }

  bytes(end: number): Buffer {
    const bytes = this.#bytes.subarray(this.#position, end);
    this.#position = end;
    return bytes;
  }

  time(end: number): string | undefined {
    if (this.#position === end) return undefined;
    const { seconds = 0 } = this.message(TIME, end, {}) as { seconds?: number };
    const known = this.#times.get(seconds);
    if (known !== undefined) return known;
    // The apiserver stores any number that a client writes, and one pod must not keep all others from being read.
    if (Math.abs(seconds) > LAST_TIME) return undefined;
    const text = new Date(seconds * 1000).toISOString().replace('.000', '');
    if (this.#times.size > 1000) this.#times.clear();
    this.#times.set(seconds, text);
    return text;
  }

  signed(): number {
    const start = this.#position;
    const value = this.varint();
    if (value < 2 ** 53) return value;
    let bits = 0n;
    for (let at = this.#position - 1; at >= start; at -= 1)
      bits = (bits << 7n) | BigInt(this.#bytes[at]! & 127);
    return Number(BigInt.asIntN(64, bits));
  }

  varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#position++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let factor = 128; factor < 2 ** 70; factor *= 128) {
      byte = bytes[this.#position++]!;
      if (byte < 128) return value + byte * factor;
      value += (byte & 127) * factor;
    }
    throw new MalformedMessage('a number has no end');
  }

  #end(most: number): number {
    const length = this.varint();
    const end = this.#position + length;
    if (end > most) throw new MalformedMessage(`a field of ${length} bytes is longer than its message`);
    return end;
  }

  #skip(wireType: number): void {
    if (wireType === DELIMITED) {
      const length = this.varint();
      this.#position += length;
    } else if (wireType === VARINT) this.varint();
    else if (wireType === FIXED64) this.#position += 8;
    else if (wireType === FIXED32) this.#position += 4;
    else throw new MalformedMessage(`a field has wire type ${wireType}`);
  }
}

/** An object that knows how many bytes it had. Not enumerable: that is no field. */
export function sized(bytes: number): Properties {
  return Object.defineProperty({}, ENCODED_BYTES, { value: bytes });
}

function listIn(object: Properties, name: string): unknown[] {
  const known = object[name] as unknown[] | undefined;
  if (known !== undefined) return known;
  const list: unknown[] = [];
  object[name] = list;
  return list;
}

function mapIn(object: Properties, name: string): Properties {
  const known = object[name] as Properties | undefined;
  if (known !== undefined) return known;
  const map: Properties = {};
  object[name] = map;
  return map;
}
