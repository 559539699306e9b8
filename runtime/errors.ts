import { CodedError, type CodedErrorOptions } from '../constructs/api/errors';

export interface FluxqErrorOptions extends CodedErrorOptions {
  /** Whether the same call can succeed later with nothing changed. @default false */
  readonly retryable?: boolean;
}

/** An error of the runtime. It tells its caller whether a retry can help. */
export class FluxqError extends CodedError {
  readonly retryable: boolean;

  constructor(code: `FLUXQ_${string}`, problem: string, options: FluxqErrorOptions = {}) {
    super(code, problem, options);
    this.name = 'FluxqError';
    this.retryable = options.retryable ?? false;
  }
}

/** Whether the error is a FluxqError with this code. */
export function hasCode(error: unknown, code: `FLUXQ_${string}`): error is FluxqError {
  return error instanceof FluxqError && error.code === code;
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
