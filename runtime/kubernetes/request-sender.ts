/**
 * Sends requests to the apiserver and repeats those that may be repeated: after 429 and 503, once after 401, and on a
 * connection that the server had closed while it was idle.
 */
import { backoff, type Clock, pause, type Random } from '../clock';
import type { Credentials } from './credentials';
import { ApiError, apiError } from './errors';
import { resourceOf } from './paths';
import {
  type Body,
  BrokenConnection,
  type Call,
  type Reply,
  type StreamEnd,
  type Streaming,
  type Transport,
} from './transport';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete';

/**
 * Called once per answered or failed request.
 * @param resource e.g. `jobs` or `fluxjobs/status`
 * @param status HTTP status; 0 if there was no answer
 */
export type OnRequest = (verb: Verb, resource: string, status: number, seconds: number) => void;

export interface ApiCall extends Call {
  readonly verb: Verb;
  /** Whether sending it twice has the same effect as sending it once. */
  readonly repeatable: boolean;
}

export interface Attempts {
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
  /** How often 429 and 503 are answered with another attempt. */
  readonly retries: number;
}

/** Milliseconds. If the server asks for a longer wait, the caller's own backoff applies. */
const LONGEST_RETRY_MS = 10_000;

export class RequestSender {
  readonly #closed = new AbortController();

  constructor(
    private readonly transport: Transport,
    private readonly credentials: Credentials,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly onRequest: OnRequest | undefined,
  ) {}

  /** Resolves to the body of the first answer with a status below 300. */
  async send(call: ApiCall, { timeout, retries }: Attempts): Promise<Body> {
    let hasNewCredential = false;
    for (let attempt = 0; ; ) {
      const reply = await this.#sendOnce(call, timeout);
      if (reply.status < 300) return reply.body;
      const error = this.#errorOf(reply, `${call.method} ${call.path}`);
      if (reply.status === 401 && !hasNewCredential) {
        hasNewCredential = true;
        continue;
      }
      attempt += 1;
      if (attempt > retries || !mayRepeat(error, call)) throw error;
      await pause(this.clock, this.#retryDelay(error, attempt), this.#closed.signal);
    }
  }

  /**
   * Reads the events of a watch until it ends.
   * @param path without the query
   */
  async stream(call: Call, path: string, streaming: Streaming): Promise<StreamEnd> {
    const started = this.clock.now();
    let status = 0;
    try {
      const end = await this.transport.stream(call, streaming);
      if (typeof end !== 'string') throw this.#errorOf(end, `WATCH ${path}`);
      status = 200;
      return end;
    } catch (error) {
      if (error instanceof ApiError) status = error.status;
      throw error instanceof BrokenConnection ? error.error : error;
    } finally {
      this.#observe('watch', path, status, started);
    }
  }

  /** Breaks off everything that is in flight; every later call throws. */
  close(): void {
    this.#closed.abort();
    this.transport.close();
  }

  /** One request. A stale connection is replaced without counting as an attempt. */
  async #sendOnce(call: ApiCall, timeout: number): Promise<Reply> {
    const started = this.clock.now();
    const { verb, path, repeatable } = call;
    for (let again = true; ; again = false) {
      try {
        const reply = await this.transport.request(call, timeout);
        this.#observe(verb, path, reply.status, started);
        return reply;
      } catch (error) {
        if (error instanceof BrokenConnection && error.stale && repeatable && again) continue;
        this.#observe(verb, path, 0, started);
        throw error instanceof BrokenConnection ? error.error : error;
      }
    }
  }

  #errorOf(reply: Reply, request: string): ApiError {
    if (reply.status === 401) this.credentials.refused(reply.credential);
    return apiError(reply.status, reply.body, reply.retryAfter, request);
  }

  #retryDelay(error: ApiError, attempt: number): number {
    const jittered = backoff({ first: 250, most: LONGEST_RETRY_MS }, attempt, this.random);
    const requested = (error.retryAfterSeconds ?? 0) * 1000;
    return Math.min(LONGEST_RETRY_MS, Math.max(requested, jittered));
  }

  #observe(verb: Verb, path: string, status: number, started: number): void {
    this.onRequest?.(verb, resourceOf(path), status, (this.clock.now() - started) / 1000);
  }
}

/** The server refused a request with 429 before anything happened; a 503 may come from a proxy after the request took effect. */
function mayRepeat(error: ApiError, call: ApiCall): boolean {
  return error.status === 429 || (error.status === 503 && call.repeatable);
}
