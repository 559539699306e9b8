/** The errors of requests to the apiserver, with codes of docs/errors.md. */
import { FLUXJOB_GROUP } from '../../constructs/api/labels';
import { FluxqError, type FluxqErrorOptions, messageOf } from '../errors';
import { readStatus } from './protobuf-answers';
import type { Status } from './types';

/** The apiserver refused a request. */
export class ApiError extends FluxqError {
  /** HTTP status. */
  readonly status: number;
  /** The reason that Kubernetes gives, e.g. `AlreadyExists`; `Unknown` if it gives none. */
  readonly reason: string;
  /** The server's own sentence. */
  readonly said: string;
  /** The name of the object that it is about, if the server says so. */
  readonly about: string | undefined;
  /** The wait that the server requests before a retry. */
  readonly retryAfterSeconds: number | undefined;

  constructor(answer: Answer, options: FluxqErrorOptions = {}) {
    const { code, retryable, remedy } = kindOf(answer.status, answer.reason);
    super(code, answer.message, { retryable, ...(remedy !== undefined && { remedy }), ...options });
    this.name = 'ApiError';
    this.status = answer.status;
    this.reason = answer.reason;
    this.said = answer.message;
    this.about = answer.about;
    this.retryAfterSeconds = answer.retryAfterSeconds;
  }
}

export interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  /** @default - it names no object */
  readonly about?: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

interface Kind {
  readonly code: `FLUXQ_${string}`;
  readonly retryable: boolean;
  readonly remedy?: string;
}

/**
 * 401 and 403 are retryable: an apiserver that has just started answers with them until its caches are filled, and a
 * token may be rotated.
 */
const KINDS: Readonly<Record<number, Kind>> = {
  400: { code: 'FLUXQ_KUBERNETES_INVALID', retryable: false },
  401: {
    code: 'FLUXQ_KUBERNETES_UNAUTHORIZED',
    retryable: true,
    remedy: 'check the token or certificate of this ServiceAccount or kubeconfig user',
  },
  403: {
    code: 'FLUXQ_KUBERNETES_FORBIDDEN',
    retryable: true,
    remedy:
      'grant this by RBAC (the stack brings the roles it needs), or change what the admission policy objects to',
  },
  404: { code: 'FLUXQ_KUBERNETES_NOT_FOUND', retryable: false },
  409: { code: 'FLUXQ_KUBERNETES_CONFLICT', retryable: true },
  410: { code: 'FLUXQ_KUBERNETES_GONE', retryable: true },
  413: { code: 'FLUXQ_KUBERNETES_INVALID', retryable: false },
  422: { code: 'FLUXQ_KUBERNETES_INVALID', retryable: false },
  429: { code: 'FLUXQ_KUBERNETES_OVERLOADED', retryable: true },
  503: { code: 'FLUXQ_KUBERNETES_OVERLOADED', retryable: true },
};

function kindOf(status: number, reason: string): Kind {
  if (reason === 'AlreadyExists') return { code: 'FLUXQ_KUBERNETES_EXISTS', retryable: false };
  return KINDS[status] ?? { code: 'FLUXQ_KUBERNETES_FAILED', retryable: status >= 500 };
}

/**
 * @param body of the answer. Of anything but a Status object, the message has the first 200 characters
 * @param retryAfter the header, in seconds
 * @param request e.g. `PATCH /apis/batch/v1/namespaces/a/jobs/b`
 */
export function apiError(
  status: number,
  body: string | Buffer,
  retryAfter: string | undefined,
  request: string,
): ApiError {
  const answer = statusOf(body);
  const text = typeof body === 'string' ? body.slice(0, 200).trim() : '';
  const seconds = Number(retryAfter ?? answer.details?.retryAfterSeconds);
  return new ApiError(
    {
      status,
      reason: answer.reason ?? 'Unknown',
      message: answer.message ?? `HTTP ${status} ${text}`.trimEnd(),
      about: answer.details?.name,
      retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
    },
    { field: request },
  );
}

function statusOf(body: string | Buffer): Status {
  try {
    if (typeof body !== 'string') return readStatus(body);
    if (!body.startsWith('{')) return {};
    return JSON.parse(body) as Status;
  } catch {
    // The error page of a proxy, or an incomplete answer: the message has its text.
    return {};
  }
}

/** The error of an ERROR event in a watch. */
export function watchError(status: Status, request: string): ApiError {
  return new ApiError(
    {
      status: status.code ?? 500,
      reason: status.reason ?? 'Unknown',
      message: status.message ?? 'the watch ended with an error',
      retryAfterSeconds: status.details?.retryAfterSeconds,
    },
    { field: request },
  );
}

/** What a resolver answers, and nothing, when the name of a host has no address. */
const UNRESOLVED: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

export function unreachable(request: string, cause: unknown): FluxqError {
  const { code, hostname } = (cause ?? {}) as { readonly code?: unknown; readonly hostname?: string };
  if (UNRESOLVED.has(code))
    return new FluxqError(
      'FLUXQ_KUBERNETES_UNREACHABLE',
      `DNS has no address of the apiserver ${hostname ?? ''} (${String(code)})`,
      { field: request, remedy: 'check the name, and that DNS answers', retryable: true, cause },
    );
  return new FluxqError('FLUXQ_KUBERNETES_UNREACHABLE', `no answer from the apiserver: ${messageOf(cause)}`, {
    field: request,
    remedy: 'check the address, and that the apiserver is running',
    retryable: true,
    cause,
  });
}

export function timedOut(request: string, milliseconds: number): FluxqError {
  return new FluxqError('FLUXQ_KUBERNETES_TIMEOUT', `no answer within ${milliseconds / 1000} s`, {
    field: request,
    retryable: true,
  });
}

const TOO_LARGE = 'FLUXQ_KUBERNETES_TOO_LARGE';

/** Whether the answer was larger than its limit. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof FluxqError && error.code === TOO_LARGE;
}

export function tooLarge(request: string, bytes: number): FluxqError {
  return new FluxqError(TOO_LARGE, `the answer has more than ${bytes} bytes`, {
    field: request,
  });
}

export function closed(request: string): FluxqError {
  return new FluxqError('FLUXQ_KUBERNETES_CLOSED', 'the client was closed', { field: request });
}

/** The error of this project that the server's sentence has in it: its code, and the rest with its own remedy. */
export function codedIn(error: ApiError, pattern: RegExp): FluxqError | undefined {
  const [, code, sentence] = pattern.exec(error.said) ?? [];
  if (code === undefined || sentence === undefined) return undefined;
  return new FluxqError(code as `FLUXQ_${string}`, sentence, { cause: error });
}

/**
 * The same error for the user of a command: what the server said, without the request, which the user did not make, and with one remedy.
 * Admission's refusals have theirs.
 */
export function forUser(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, said, retryable, reason } = error;
  // The answer of a group that the cluster does not have is no Status.
  if (status === 404 && reason === 'Unknown')
    return error.message.includes(`/${FLUXJOB_GROUP}/`) ? notInstalled(error) : notServed(error);
  const remedy = status === 403 && /User "/.test(said) ? rightsRemedy(said) : undefined;
  return (
    codedIn(error, /\b(FLUXQ_\w+): (.*)$/s) ??
    new FluxqError(code, said, { retryable, cause: error, ...(remedy !== undefined && { remedy }) })
  );
}

/** As MiniClusters, which not every stack has. */
function notServed(cause: ApiError): FluxqError {
  return new FluxqError(cause.code, 'the cluster does not serve this kind of object', {
    remedy: 'ask an administrator to install what serves it',
    cause,
  });
}

export function notInstalled(cause: unknown): FluxqError {
  return new FluxqError('FLUXQ_NOT_INSTALLED', 'this cluster has no fluxqueue', {
    remedy: 'ask an administrator to install it, or choose another cluster with --context',
    cause,
  });
}

/** What is read of the whole cluster is not given in one namespace, and what is written to it by no role that users have. */
function rightsRemedy(said: string): string {
  const [, verb = '', resource = ''] = /cannot (\w+) resource "([^"]+)"/.exec(said) ?? [];
  const isRead = ['get', 'list', 'watch'].includes(verb);
  if (!said.includes('at the cluster scope'))
    return `ask an administrator for the right, such as a RoleBinding to ${isRead ? 'view' : 'edit'}`;
  return isRead
    ? 'ask an administrator for the right, such as a ClusterRoleBinding to view'
    : `this is for administrators: it takes the right to ${verb} ${resource}`;
}

/** Whether the apiserver answered with this HTTP status. */
export function isStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

/**
 * Whether the apiserver says that there is no such object. It answers 404 also where it does not serve the kind of object, or not in
 * this version: then it names none.
 */
export function isNoSuchObject(error: unknown): boolean {
  return isStatus(error, 404) && error.reason === 'NotFound' && error.about !== undefined;
}

/** What was asked for, or undefined if there is no such object (404). @throws every other error */
export async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}
