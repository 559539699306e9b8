/**
 * The webhook server: AdmissionReview in, AdmissionReview out, nothing called
 * in between. /mutate answers with patches, /validate with the verdict alone.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { FluxqError, messageOf } from '../errors';
import type { AdmissionRequest, Verdict } from './review';
import { type AdmissionOptions, admit } from './rules';

/** PEM. */
export interface TlsPair {
  readonly key: string;
  readonly cert: string;
}

/** What became of a request: a patch, nothing to do, a refusal, or no answer worth the name. */
export type Outcome = 'patched' | 'unchanged' | 'denied' | 'error';

export interface WebhookOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls: TlsPair;
  readonly admission?: AdmissionOptions;
  /** @default 4 MiB: an AdmissionReview is a little larger than the object, of which the apiserver takes 3 MiB */
  readonly maxBodyBytes?: number;
  /** Milliseconds until a request that has not arrived whole is given up. @default 4000: the apiserver waits 5 s */
  readonly deadline?: number;
  readonly onRequest?: (kind: string, outcome: Outcome, seconds: number) => void;
  /** Told what we could not answer properly; never what a user got wrong. */
  readonly onError?: (error: Error) => void;
}

export interface WebhookServer {
  readonly port: number;
  /** For connections from now on; those that are open live on. @throws FluxqError FLUXQ_CERTIFICATE_INVALID, and keeps the old pair */
  setCertificate(tls: TlsPair): void;
  /** Answers what is under way, then closes. */
  stop(): Promise<void>;
}

/**
 * The apiserver keeps idle connections for 90 s. If we closed one first, its
 * next request could meet the closing connection and fail, and with it the
 * user's.
 */
const KEEP_ALIVE = 120_000;
const MAX_BODY = 4 * 1024 * 1024;

/** @throws FluxqError FLUXQ_PORT_IN_USE, FLUXQ_CERTIFICATE_INVALID */
export async function startWebhook(options: WebhookOptions): Promise<WebhookServer> {
  const deadline = options.deadline ?? 4_000;
  const server = withCertificate(() =>
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
      withCertificate(() => server.setSecureContext({ ...tls, minVersion: 'TLSv1.2' })),
    stop: () =>
      new Promise((resolve) => {
        // A connection whose request is under way is not idle now, and is kept open afterwards unless its answer ends it.
        stopping = true;
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
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
    // What is left of a refused body is not read, so nothing can follow it.
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
    if (path !== '/mutate' && path !== '/validate') throw refused(404, 'no such path', path);
    if (request.method !== 'POST') throw refused(405, 'wants a POST', request.method);
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
    const problem = error instanceof Refusal ? error : new Refusal(200, 500, internal(error));
    options.onError?.(problem.cause instanceof Error ? problem.cause : problem);
    const { status, code, message } = problem;
    const review = reviewOf(admission?.uid ?? '', { allowed: false, patch: [], message }, code);
    return { status, review, outcome: 'error', kind: admission?.kind.kind ?? '' };
  }
}

/** @param code of a denial: 422 as for any invalid object */
function reviewOf(uid: string, { allowed, patch, message }: Verdict, code = 422): object {
  const patches = Buffer.from(JSON.stringify(patch)).toString('base64');
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(patch.length === 0 ? {} : { patchType: 'JSONPatch', patch: patches }),
      ...(allowed ? {} : { status: { code, reason: code === 422 ? 'Invalid' : 'BadRequest', message } }),
    },
  };
}

/** A request that is none of the apiserver's; the HTTP status tells whoever sent it. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: number,
    cause: Error,
  ) {
    super(cause.message, { cause });
  }
}

function refused(status: number, what: string, value?: unknown): Refusal {
  return new Refusal(
    status,
    status,
    new FluxqError('FLUXQ_REVIEW_INVALID', what, { field: 'AdmissionReview', value }),
  );
}

/** A fault of ours denies (nothing may slip past the queue) and says so. */
function internal(cause: unknown): Error {
  return new FluxqError(
    'FLUXQ_ADMISSION_FAILED',
    `admission could not judge this object: ${messageOf(cause)}`,
    {
      remedy: 'report it with the object',
      cause,
    },
  );
}

function readBody(request: IncomingMessage, limit: number): Promise<string> {
  const tooLarge = () => refused(413, `is larger than ${limit} bytes`);
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
    request.on('error', (error) => reject(refused(400, `did not arrive: ${error.message}`)));
    request.on('aborted', () => reject(refused(400, 'did not arrive whole')));
  });
}

function requestOf(body: string): AdmissionRequest {
  let review: { request?: Partial<AdmissionRequest> } | null;
  try {
    review = JSON.parse(body) as typeof review;
  } catch (error) {
    throw refused(400, `is no JSON: ${messageOf(error)}`);
  }
  const request = review?.request;
  if (typeof request?.uid !== 'string') throw refused(400, 'has no request.uid');
  if (typeof request.kind?.kind !== 'string') throw refused(400, 'has no request.kind');
  if (request.operation === 'CREATE' && (typeof request.object !== 'object' || request.object === null))
    throw refused(400, 'has no request.object');
  return request as AdmissionRequest;
}

function withCertificate<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new FluxqError('FLUXQ_CERTIFICATE_INVALID', `cannot serve with it: ${messageOf(cause)}`, {
      field: 'tls',
      remedy: 'give a PEM certificate and the key that belongs to it',
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
