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

/** JSON has no NaN and no Infinity. */
function shownAs(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
