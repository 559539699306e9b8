/**
 * Every error a user can meet: a code of docs/errors.md, the place, the value
 * and the remedy in one sentence, and whether trying again can help.
 */
export interface FluxqErrorOptions {
  /** Where: a field path, a file, an address. */
  readonly field?: string;
  /** What was found there, as given. */
  readonly value?: unknown;
  /** What the reader can do about it, one imperative sentence without the full stop. */
  readonly remedy?: string;
  /** Whether the same call can succeed later with nothing changed. @default false */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

export class FluxqError extends Error {
  readonly code: string;
  readonly field: string | undefined;
  readonly value: unknown;
  readonly remedy: string | undefined;
  readonly retryable: boolean;

  constructor(code: `FLUXQ_${string}`, what: string, options: FluxqErrorOptions = {}) {
    super(sentence(code, what, options), options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'FluxqError';
    this.code = code;
    this.field = options.field;
    this.value = options.value;
    this.remedy = options.remedy;
    this.retryable = options.retryable ?? false;
  }
}

function sentence(code: string, what: string, { field, value, remedy }: FluxqErrorOptions): string {
  const where = field === undefined ? '' : `${field}: `;
  const shown = value === undefined ? '' : ` (got ${JSON.stringify(value)})`;
  return `${code}: ${where}${what}${shown}${remedy === undefined ? '' : `; ${remedy}`}`;
}

/** Whether it is an error of ours with this code. */
export function hasCode(error: unknown, code: `FLUXQ_${string}`): error is FluxqError {
  return error instanceof FluxqError && error.code === code;
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
