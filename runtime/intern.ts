/**
 * Interning: one text for all equal texts, and one object for all objects that are written alike. Ten thousand Jobs of one
 * manifest have one pod spec, and a pod has the labels and tolerations of a hundred others.
 *
 * A pool is bounded and forgets: it keeps what was used lately, in two generations. When the young one is full, it becomes
 * the old one, and what nobody asked for meanwhile is forgotten. So a pool costs a few MB whatever passes through it, and
 * whoever has an object keeps it, with or without the pool. (WeakRefs would keep all that is alive, but one of them with its
 * entry and its finalizer costs more than a small object.)
 *
 * Nobody may change an interned object.
 */

/** Bytes of one generation: the characters of texts and of objects as JSON, and what an entry takes beside them. */
const GENERATION = 2_000_000;
const ENTRY = 64;
/** Characters. Longer objects are rarely equal, and few of them would fill a generation. */
const LONGEST = 20_000;

class Generations<T> {
  private young = new Map<string, T>();
  private old = new Map<string, T>();
  private bytes = 0;

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const survivor = this.old.get(key);
    if (survivor !== undefined) this.add(key, survivor);
    return survivor;
  }

  add(key: string, value: T): T {
    if (this.bytes > this.most) {
      this.old = this.young;
      this.young = new Map();
      this.bytes = 0;
    }
    this.young.set(key, value);
    this.bytes += key.length + ENTRY;
    return value;
  }
}

export class InternPool {
  private readonly texts: Generations<string>;
  private readonly objects: Generations<object>;

  /** @param generation bytes of one generation; smaller only in tests */
  constructor(generation = GENERATION) {
    this.texts = new Generations(generation);
    this.objects = new Generations(generation);
  }

  /** The text that was interned first of all equal ones. */
  text<T extends string | undefined>(text: T): T {
    if (text === undefined) return text;
    return (this.texts.get(text) ?? this.texts.add(text, text)) as T;
  }

  /**
   * The object that was interned first of all that are written alike: with equal values, and keys in the same order.
   * @param build makes an equal one, to be interned if none is. @default - the object itself
   */
  object<T extends object>(object: T, build = () => object): T {
    const key = JSON.stringify(object);
    if (key.length > LONGEST) return object;
    return (this.objects.get(key) ?? this.objects.add(key, build())) as T;
  }

  /** A new object with the same keys, whose values are interned. */
  fields<T extends object>(object: T): T {
    const interned = Object.entries(object).map(([key, value]: [string, unknown]) => [
      key,
      this.value(value),
    ]);
    return Object.fromEntries(interned) as T;
  }

  private value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    return typeof value === 'object' && value !== null ? this.object(value) : value;
  }

  /** A new object with the same keys, whose texts are interned. */
  record(texts: Readonly<Record<string, string>>): Record<string, string> {
    const record: Record<string, string> = {};
    for (const key in texts) record[key] = this.text(texts[key]!);
    return record;
  }
}
