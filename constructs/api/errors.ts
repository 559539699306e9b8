/** What an error tells its reader beside the problem itself. */
export interface CodedErrorOptions {
  /** The place of the problem: the path of a field, a file, an address. */
  readonly field?: string;
  /** The value found there, as given. */
  readonly value?: unknown;
  /** What the reader can do about it: one imperative sentence without the full stop. */
  readonly remedy?: string;
  readonly cause?: unknown;
}

/**
 * An error with a code of docs/errors.md. Its message is one sentence:
 * `CODE: field: problem (got VALUE); remedy`. Both halves of the project extend it.
 */
export class CodedError extends Error {
  readonly field: string | undefined;
  readonly value: unknown;
  readonly remedy: string | undefined;

  constructor(
    readonly code: `FLUXQ_${string}`,
    problem: string,
    options: CodedErrorOptions = {},
  ) {
    super(sentence(code, problem, options), options.cause === undefined ? {} : { cause: options.cause });
    this.field = options.field;
    this.value = options.value;
    this.remedy = options.remedy;
  }
}

/** An error in the props of a construct. It is thrown at synth, before anything is written. */
export class PropsError extends CodedError {
  /**
   * @param field name of the construct and path of the prop, e.g. `FluxQueue.scheduler`
   * @param problem the problem with it, e.g. `is not supported`
   * @param value the value that was given
   * @param remedy one imperative sentence without the full stop
   */
  constructor(field: string, problem: string, value: unknown, remedy: string) {
    super('FLUXQ_PROPS_INVALID', problem, { field, value, remedy });
    this.name = 'PropsError';
  }
}

function sentence(code: string, problem: string, { field, value, remedy }: CodedErrorOptions): string {
  const where = field === undefined ? '' : `${field}: `;
  const shown = value === undefined ? '' : ` (got ${shownAs(value)})`;
  return `${code}: ${where}${problem}${shown}${remedy === undefined ? '' : `; ${remedy}`}`;
}

/**
 * A value as messages show it. It never throws, whatever a program in JavaScript gives: constructs refer to each other in circles, and
 * JSON leaves out functions, Symbols and NaN.
 * @param shownText what is shown of a text. @default - all of it
 */
export function shownAs(value: unknown, shownText = (text: string): string => text): string {
  const shown = (_: string, member: unknown): unknown =>
    typeof member === 'string'
      ? shownText(member)
      : member === undefined
        ? member
        : (inWords(member) ?? member);
  try {
    return inWords(value) ?? JSON.stringify(value, shown);
  } catch {
    return 'an object that cannot be shown';
  }
}

/** Values that JSON does not have; undefined for all others. */
function inWords(value: unknown): string | undefined {
  if (typeof value === 'function') return `the function ${value.name}`.trimEnd();
  if (typeof value === 'object' && value !== null) return ofClass(value);
  const isOfJson = typeof value === 'string' || typeof value === 'boolean' || value === null;
  return isOfJson || Number.isFinite(value) ? undefined : String(value);
}

/** `Secret app/credentials` for a construct, `Duration` for a value of a class; undefined for plain objects and lists. */
function ofClass(value: object): string | undefined {
  const { node, toJSON } = value as { node?: { path?: unknown }; toJSON?: unknown };
  if (Array.isArray(value) || isPlain(value) || typeof toJSON === 'function') return undefined;
  const path = typeof node?.path === 'string' ? node.path : '';
  return `${value.constructor?.name ?? 'object'} ${path}`.trimEnd();
}

/** Whether an object is no list and of no class, also where another realm made it. */
export function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
