/**
 * The webhook server. It answers each AdmissionReview without a call to any
 * other service: /mutate with the verdict and patches, /validate with the
 * verdict alone.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pause, systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { AdmissionRequest, Verdict } from './review';
import { type AdmissionOptions, admit } from './rules';

/** A certificate and its key in PEM format. */
export interface TlsPair {
  readonly key: string;
  readonly cert: string;
}

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
  /** Called for invalid requests and internal errors, never for a denied object. */
  readonly onError?: (error: Error) => void;
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

/**
 * The apiserver keeps idle connections for 90 s. If the webhook closed one
 * first, a request could reach the closing connection and fail, and with it the
 * user's request.
 */
const KEEP_ALIVE = 120_000;
const MAX_BODY = 4 * 1024 * 1024;

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CERTIFICATE_INVALID */
export async function startWebhook(options: WebhookOptions): Promise<WebhookServer> {
  const deadline = options.deadline ?? 4_000;
  const server = withValidCertificate(() =>
    createServer({
      ...options.tls,
      minVersion: 'TLSv1.2',
      keepAliveTimeout: KEEP_ALIVE,
      headersTimeout: deadline,
      requestTimeout: deadline,
      connectionsCheckingInterval: Math.min(deadline, 1_000),
    }),
  );
  let stopping = false;
  server.on('request', (request, response) => void handle(options, request, response, () => stopping));
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: (tls) =>
      withValidCertificate(() => server.setSecureContext({ ...tls, minVersion: 'TLSv1.2' })),
    stop: async (drain = 0) => {
      // A connection with a request in progress is not idle yet; its response closes it, or it would stay open.
      stopping = true;
      if (drain > 0) await pause(systemClock, drain);
      // One on which no request was ever begun is not idle for Node either, and would keep the process from ending.
      const cancel = systemClock.after(deadline, () => server.closeAllConnections());
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      cancel();
    },
  };
}

async function handle(
  options: WebhookOptions,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: () => boolean,
): Promise<void> {
  const started = performance.now();
  const { status, review, outcome, kind } = await answer(options, request);
  const body = JSON.stringify(review);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    // The rest of a rejected body is never read, so the connection cannot be reused.
    ...(request.complete && !stopping() ? {} : { connection: 'close' }),
  });
  response.end(body);
  options.onRequest?.(kind, outcome, (performance.now() - started) / 1000);
}

interface Answer {
  readonly status: number;
  readonly review: object;
  readonly outcome: Outcome;
  readonly kind: string;
}

async function answer(options: WebhookOptions, request: IncomingMessage): Promise<Answer> {
  const path = request.url?.split('?')[0];
  let admission: AdmissionRequest | undefined;
  try {
    if (path !== '/mutate' && path !== '/validate') throw reviewError(404, 'path not found', path);
    if (request.method !== 'POST') throw reviewError(405, 'must be sent with POST', request.method);
    admission = requestOf(await readBody(request, options.maxBodyBytes ?? MAX_BODY));
    const verdict = admit(admission, options.admission);
    const patch = path === '/mutate' ? verdict.patch : [];
    const outcome = !verdict.allowed ? 'denied' : patch.length > 0 ? 'patched' : 'unchanged';
    return {
      status: 200,
      review: reviewOf(admission.uid, { ...verdict, patch }),
      outcome,
      kind: admission.kind.kind,
    };
  } catch (error) {
    const problem = error instanceof ReviewError ? error : new ReviewError(200, 500, internalError(error));
    options.onError?.(problem.cause instanceof Error ? problem.cause : problem);
    const { status, code, message } = problem;
    const review = reviewOf(admission?.uid ?? '', { allowed: false, patch: [], message }, code);
    return { status, review, outcome: 'error', kind: admission?.kind.kind ?? '' };
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

function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const tooLarge = () => reviewError(413, `is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.pause();
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.on('error', (error) => reject(reviewError(400, `could not be read: ${error.message}`)));
    request.on('aborted', () => reject(reviewError(400, 'is incomplete')));
  });
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

function withValidCertificate<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new FluxqError('FLUXQ_CERTIFICATE_INVALID', `is not usable: ${messageOf(cause)}`, {
      field: 'tls',
      remedy: 'set a PEM certificate and its key',
      cause,
    });
  }
}

function listen(server: Server, { host, port }: WebhookOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new FluxqError('FLUXQ_PORT_IN_USE', `cannot listen on ${host} (${cause.code})`, {
          field: 'webhook.port',
          value: port,
          remedy: 'choose another port with webhook.port or FLUXQUEUE_webhook_port',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
