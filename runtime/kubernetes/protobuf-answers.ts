/**
 * Answers of the apiserver in protobuf. An object is in an envelope, runtime.Unknown, behind four bytes that say so. The
 * frame of a watch has a metav1.WatchEvent with such an object.
 */
import { MalformedMessage, type Message, MessageReader, message, sized } from './protobuf';
import type { KubernetesList, KubernetesObject, Status } from './types';

const MAGIC = 'k8s\0';

const ENVELOPE = message({
  2: ['raw', 'bytes'],
  3: ['contentEncoding', 'text?'],
});

interface Envelope {
  readonly raw?: Buffer;
  readonly contentEncoding?: string;
}

const WATCH_EVENT = message({
  1: ['type', 'text'],
  2: ['object', 'message', message({ 1: ['raw', 'bytes'] })],
});

interface RawEvent {
  readonly type?: string;
  readonly object?: { readonly raw?: Buffer };
}

const LIST_META = message({
  2: ['resourceVersion', 'text?'],
  3: ['continue', 'text?'],
  4: ['remainingItemCount', 'number'],
});

const CAUSE = message({
  1: ['reason', 'text?'],
  2: ['message', 'text?'],
  3: ['field', 'text?'],
});

const DETAILS = message({
  1: ['name', 'text?'],
  3: ['kind', 'text?'],
  4: ['causes', 'messages', CAUSE],
  5: ['retryAfterSeconds', 'number?'],
  6: ['uid', 'text?'],
});

const STATUS = message({
  3: ['message', 'text?'],
  4: ['reason', 'text?'],
  5: ['details', 'message', DETAILS],
  6: ['code', 'number?'],
});

const NOTHING = Buffer.alloc(0);

/** An event as it was sent; the object of an `ERROR` is a Status. */
export type SentEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status };

const TYPES: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Every method throws a MalformedMessage if the bytes are anything else. */
export class ProtobufAnswers {
  readonly #reader = new MessageReader();

  /** @param item the fields that are read of an object */
  list<T>(body: Buffer, item: Message): KubernetesList<T> {
    const fields = message({ 1: ['metadata', 'message', LIST_META], 2: ['items', 'objects', item] });
    const list = this.#object(body, fields) as Partial<KubernetesList<KubernetesObject>>;
    const { metadata, items = [] } = list;
    if (metadata === undefined) throw new MalformedMessage('a list has no metadata');
    for (const each of items) requireMetadata(each);
    return { metadata, items: items as readonly unknown[] as readonly T[] };
  }

  /** @param fields that are read of the object */
  event<T>(frame: Buffer, fields: Message): SentEvent<T> {
    const { type = '', object } = this.#reader.read(frame, WATCH_EVENT) as RawEvent;
    const raw = object?.raw ?? NOTHING;
    if (type === 'ERROR') return { type, object: this.status(raw) };
    if (!TYPES.has(type)) throw new MalformedMessage(`an event has type "${type}"`);
    const read = this.#object(raw, fields);
    requireMetadata(read);
    return { type, object: read } as SentEvent<T>;
  }

  status(body: Buffer): Status {
    return this.#object(body, STATUS);
  }

  #object(body: Buffer, fields: Message): object {
    if (body.toString('latin1', 0, MAGIC.length) !== MAGIC)
      throw new MalformedMessage('the envelope of an object is missing');
    const envelope = this.#reader.read(body, ENVELOPE, MAGIC.length) as Envelope;
    const { raw = NOTHING, contentEncoding } = envelope;
    if (contentEncoding !== undefined) throw new MalformedMessage(`an object is in ${contentEncoding}`);
    return this.#reader.read(raw, fields, 0, sized(raw.length));
  }
}

/** The Status of an answer that is no success. @throws MalformedMessage */
export function readStatus(body: Buffer): Status {
  return new ProtobufAnswers().status(body);
}

function requireMetadata(object: Partial<KubernetesObject>): void {
  if (object.metadata === undefined) throw new MalformedMessage('an object has no metadata');
}
