/**
 * The webhook server. It answers each AdmissionReview without a call to any
 * other service: /mutate with the verdict and patches, /validate with the
 * verdict alone.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import { addressOf } from '../https/connections';
import { BodyError, readBody, sendJson, startHttps, type TlsPair } from '../https/server';
import { Turns } from '../https/turns';
import type { AdmissionRequest, Verdict } from './review';
import { type AdmissionOptions, admit } from './rules';

/** The outcome of a request; `error` if the request was invalid or admission failed. */
export type Outcome = 'patched' | 'unchanged' | 'denied' | 'error';

export interface WebhookOptions {
  readonly host: string;
  /** The port; 0 selects a free one. */
  readonly port: number;
  readonly tls: TlsPair;
  readonly admission?: AdmissionOptions;
  /** Bytes. The apiserver accepts objects of 3 MiB, and an AdmissionReview is a little larger. @default 4194304 */
  readonly maxBodyBytes?: number;
  /** Milliseconds until an incomplete request is aborted. The apiserver waits 5 s for the answer. @default 4000 */
  readonly deadline?: number;
  readonly onRequest?: (kind: string, outcome: Outcome, seconds: number) => void;
  /** @default 1024 */
  readonly maxConnections?: number;
  /** Called for invalid requests and internal errors, never for a denied object. */
  readonly onError?: (error: Error) => void;
  /** Measures the time until it has stopped. @default - the clock of the machine */
  readonly clock?: Clock;
}

export interface WebhookServer {
  readonly port: number;
  /**
   * Uses another certificate for new connections; open connections keep theirs.
   * @throws FluxqError FLUXQ_CERTIFICATE_INVALID; the server then keeps the previous certificate
   */
  setCertificate(tls: TlsPair): void;
  /**
   * Answers requests that have begun, then closes, within the deadline of a request.
   * @param drain milliseconds for which it accepts requests still: a Service sends them to a pod for a moment after its end has begun
   */
  stop(drain?: number): Promise<void>;
}

const MAX_BODY = 4 * 1024 * 1024;
const MAX_CONNECTIONS = 1_024;
/** Reviews that are in memory, as they are read or answered. */
const READING = { all: 8, address: 3 };
/** Where others wait for its place, a body is given up that brings fewer bytes in so many milliseconds: the largest would be late. */
const SLOW = { milliseconds: 1_000, bytes: 1024 * 1024 };

/** Any pod of the cluster reaches the webhook, and nobody knows the addresses of the apiserver. */
interface Server extends WebhookOptions {
  readonly reading: Turns;
  /** One review is answered after the other, of those that are read. */
  readonly answering: Turns;
}

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CERTIFICATE_INVALID */
export async function startWebhook(options: WebhookOptions): Promise<WebhookServer> {
  const { host, port, tls, deadline = 4_000, maxConnections = MAX_CONNECTIONS, clock } = options;
  const own = { ...options, reading: new Turns(READING), answering: new Turns({ all: 1, address: 1 }) };
  const server = await startHttps({
    host,
    port,
    tls,
    deadline,
    clock,
    setting: 'webhook',
    maxConnections,
    onRequest: (request, response, isStopping) => handle(own, request, response, isStopping),
  });
  return {
    port: server.port,
    setCertificate: (pair) => server.setTls(pair),
    stop: (drain) => server.stop(drain),
  };
}

async function handle(
  options: Server,
  request: IncomingMessage,
  response: ServerResponse,
  isStopping: () => boolean,
): Promise<void> {
  const started = performance.now();
  const { status, review, outcome, kind } = await answer(options, request);
  sendJson(request, response, { status, document: review }, isStopping());
  options.onRequest?.(kind, outcome, (performance.now() - started) / 1000);
}

interface Answer {
  readonly status: number;
  readonly review: object;
  readonly outcome: Outcome;
  readonly kind: string;
}

async function answer(options: Server, request: IncomingMessage): Promise<Answer> {
  const path = request.url?.split('?')[0];
  let admission: AdmissionRequest | undefined;
  const turns: (() => void)[] = [];
  try {
    if (path !== '/mutate' && path !== '/validate') throw reviewError(404, 'path not found', path);
    if (request.method !== 'POST') throw reviewError(405, 'must be sent with POST', request.method);
    admission = requestOf(await bodyInTurn(options, request, turns));
    const verdict = admit(admission, options.admission);
    const patch = path === '/mutate' ? verdict.patch : [];
    return {
      status: 200,
      review: reviewOf(admission.uid, { ...verdict, patch }),
      outcome: outcomeOf({ ...verdict, patch }),
      kind: admission.kind.kind,
    };
  } catch (error) {
    const problem = error instanceof ReviewError ? error : new ReviewError(200, 500, internalError(error));
    options.onError?.(problem.cause instanceof Error ? problem.cause : problem);
    const { status, code, message } = problem;
    const review = reviewOf(admission?.uid ?? '', { allowed: false, patch: [], message }, code);
    return { status, review, outcome: 'error', kind: admission?.kind.kind ?? '' };
  } finally {
    for (const end of turns) end();
  }
}

/** @param code status code of a denial; 403 as by the guards, which say why (constructs/fluxqueue/admission/guard-policy.ts) */
function reviewOf(uid: string, { allowed, patch, message }: Verdict, code = 403): object {
  const patches = Buffer.from(JSON.stringify(patch)).toString('base64');
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: patches }),
      ...(allowed ? {} : { status: { code, reason: code === 403 ? 'Forbidden' : 'BadRequest', message } }),
    },
  };
}

/** A request without a verdict: an invalid one, which only another client than the apiserver sends, or an internal error. */
class ReviewError extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    cause: Error,
  ) {
    super(cause.message, { cause });
  }
}

function reviewError(status: number, message: string, value?: unknown): ReviewError {
  return new ReviewError(
    status,
    status,
    new FluxqError('FLUXQ_REVIEW_INVALID', message, { field: 'AdmissionReview', value }),
  );
}

/** An internal error denies the request, so that no workload bypasses the queue. */
function internalError(cause: unknown): Error {
  return new FluxqError('FLUXQ_ADMISSION_FAILED', `admission failed for this object: ${messageOf(cause)}`, {
    remedy: 'report this as a bug, with the object',
    cause,
  });
}

function outcomeOf({ allowed, patch }: Verdict): Outcome {
  if (!allowed) return 'denied';
  return patch.length > 0 ? 'patched' : 'unchanged';
}

/** @param turns gets what ends them: its place among the bodies that are in memory is kept until the answer */
async function bodyInTurn(options: Server, request: IncomingMessage, turns: (() => void)[]): Promise<string> {
  const { socket } = request;
  const address = addressOf(socket);
  turns.push(await options.reading.take(address, () => socket.destroyed));
  const body = await bodyOf(options, request);
  turns.push(await options.answering.take(address, () => false));
  if (socket.destroyed) throw reviewError(400, 'is of a client that has gone');
  return body;
}

async function bodyOf(
  { reading, clock = systemClock, maxBodyBytes = MAX_BODY }: Server,
  request: IncomingMessage,
): Promise<string> {
  const { socket } = request;
  let isOver = false;
  let [seen, slow] = [socket.bytesRead, 0];
  const look = () => {
    if (isOver) return;
    slow = socket.bytesRead - seen < SLOW.bytes ? slow + 1 : 0;
    seen = socket.bytesRead;
    // A stranger may have the address of the apiserver, on the network of its node.
    const isInTheWay = reading.isFull || (slow > 1 && reading.waitsForItself(addressOf(socket)));
    if (slow > 0 && isInTheWay) request.destroy();
    else watch();
  };
  // After a moment without time of the processor, what has arrived is read first.
  const watch = () => {
    cancel = clock.after(SLOW.milliseconds, () => setImmediate(look));
  };
  let cancel = () => {};
  watch();
  try {
    return await readBody(request, maxBodyBytes);
  } catch (error) {
    throw error instanceof BodyError ? reviewError(error.status, error.message) : error;
  } finally {
    isOver = true;
    cancel();
  }
}

function requestOf(body: string): AdmissionRequest {
  let review: { request?: Partial<AdmissionRequest> } | null;
  try {
    review = JSON.parse(body) as typeof review;
  } catch (error) {
    throw reviewError(400, `is not valid JSON: ${messageOf(error)}`);
  }
  const request = review?.request;
  if (typeof request?.uid !== 'string') throw reviewError(400, 'has no request.uid');
  if (typeof request.kind?.kind !== 'string') throw reviewError(400, 'has no request.kind');
  if (
    ['CREATE', 'UPDATE'].includes(request.operation ?? '') &&
    (typeof request.object !== 'object' || request.object === null)
  )
    throw reviewError(400, 'has no request.object');
  return request as AdmissionRequest;
}
