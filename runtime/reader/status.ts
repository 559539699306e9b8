/** Refusals as Kubernetes' Status objects, which kubectl prints as one sentence. */
import { FluxqError } from '../errors';
import type { JsonAnswer } from '../https/server';
import { ApiError } from '../kubernetes/errors';

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A request that is refused with this HTTP status. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'Refusal';
  }

  /** Whether it is this server's fault, or of what it needs. */
  get isFailure(): boolean {
    return this.status >= 500;
  }
}

/** Errors of the reader's own queries: they say nothing of the request. */
const OWN = /^FLUXQ_(DATABASE|KUBERNETES|FENCED|CONFIG)/;

/** What a client is told of an error: its own mistakes in full, of other errors no more than what helps. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof FluxqError)) return new Refusal(500, 'the reader failed; its log says why', error);
  const { retryable, code, message } = error;
  if (retryable) return new Refusal(503, message, error);
  if (error instanceof ApiError && error.status === 404) return new Refusal(404, message, error);
  if (OWN.test(code)) return new Refusal(500, message, error);
  if (code.endsWith('_NOT_FOUND')) return new Refusal(404, message, error);
  if (code.endsWith('_FORBIDDEN')) return new Refusal(403, message, error);
  return new Refusal(400, message, error);
}

/** Seconds after which a client that was refused for its number of requests tries again. */
const RETRY_AFTER_S = 1;

export function statusAnswer({ status, message }: Refusal): JsonAnswer {
  const isLater = status === 429;
  return {
    status,
    document: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: REASONS[status] ?? 'Unknown',
      ...(isLater && { details: { retryAfterSeconds: RETRY_AFTER_S } }),
      code: status,
    },
    ...(isLater && { headers: { 'retry-after': String(RETRY_AFTER_S) } }),
  };
}
