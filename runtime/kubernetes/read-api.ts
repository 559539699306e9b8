/**
 * Questions to the read API (docs/decisions/0042-read-api.md) with the rights of the user who asks. What goes wrong becomes one sentence:
 * the read API is not installed, it does not answer, or its user lacks a right.
 */
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import type { KubernetesClient, RequestOptions } from './client';
import { ApiError, codedIn, ifFound } from './errors';
import { clusterWide, namespaced, resourceOf } from './paths';

export const histories = namespaced(READ_GROUP, READ_VERSION, 'histories');
export const usages = namespaced(READ_GROUP, READ_VERSION, 'usages');
export const plans = namespaced(READ_GROUP, READ_VERSION, 'plans');
export const priorities = namespaced(READ_GROUP, READ_VERSION, 'priorities');
export const whatIfs = namespaced(READ_GROUP, READ_VERSION, 'whatifs');
export const nodeReports = clusterWide(READ_GROUP, READ_VERSION, 'nodereports');
export const resourceGraphs = clusterWide(READ_GROUP, READ_VERSION, 'resourcegraphs');
export const traces = clusterWide(READ_GROUP, READ_VERSION, 'traces');

interface Read {
  readonly verb: 'get' | 'list';
  /** @default - no parameters */
  readonly query?: Readonly<Record<string, string>>;
}

interface Create {
  readonly verb: 'create';
  readonly body: object;
}

export type Question = (Read | Create) & {
  readonly path: string;
  /** Where the right is needed. */
  readonly scope: { readonly namespace: string } | 'all namespaces' | 'the whole cluster';
  /** How long it waits for an answer, and how often it asks again. @default - as the client does it */
  readonly request?: Pick<RequestOptions, 'timeout' | 'retries'>;
};

export type ReadApiClient = Pick<KubernetesClient, 'get' | 'create'>;

/** @throws FluxqError FLUXQ_READ_API_MISSING, FLUXQ_READ_API_DOWN, FLUXQ_READ_FORBIDDEN, or what the read API refuses */
export async function ask<T>(client: ReadApiClient, question: Question): Promise<T> {
  try {
    const { path, request } = question;
    if (question.verb === 'create') return await client.create<T>(path, question.body, request);
    const query = `${new URLSearchParams(question.query)}`;
    return await client.get<T>(query === '' ? path : `${path}?${query}`, request);
  } catch (error) {
    throw error instanceof ApiError ? await explained(error, client, question) : error;
  }
}

/** The apiserver or the reader itself have no answer. */
const DOWN: ReadonlySet<number> = new Set([502, 503, 504]);

/** What an apiserver says of a path that nothing serves. */
const NOTHING_THERE = /could not find the requested resource|page not found/;

async function explained(error: ApiError, client: ReadApiClient, question: Question): Promise<FluxqError> {
  if (DOWN.has(error.status)) return down(error);
  if (error.status === 404) {
    const isThere = !NOTHING_THERE.test(error.message) && (await hasReadApi(client));
    return isThere ? ofReader(error) : missing();
  }
  if (error.status === 403) return (await hasReadApi(client)) ? forbidden(error, question) : missing();
  return ofReader(error);
}

/**
 * Whether the cluster has the read API, which a refusal does not tell: rights are checked first, also for what is not installed. Every user
 * may read discovery. In a cluster that forbids that, it counts as installed.
 */
async function hasReadApi(client: ReadApiClient): Promise<boolean> {
  try {
    return (await ifFound(client.get<object>(`/apis/${READ_GROUP}`, { retries: 0 }))) !== undefined;
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
}

function missing(): FluxqError {
  return new FluxqError('FLUXQ_READ_API_MISSING', 'this cluster has no read API of the queue', {
    remedy: 'ask an administrator for a stack that has it (readApi)',
  });
}

function down(error: ApiError): FluxqError {
  return new FluxqError('FLUXQ_READ_API_DOWN', `the read API has no answer now: ${error.said}`, {
    remedy: 'try again in a minute; kubectl fluxqueue doctor finds what is wrong with the stack',
    retryable: true,
    cause: error,
  });
}

function forbidden(error: ApiError, { verb, path, scope }: Question): FluxqError {
  const user = /User "([^"]+)"/.exec(error.message)?.[1] ?? 'you';
  const role = verb === 'create' ? 'edit' : 'view';
  const where = typeof scope === 'string' ? scope : `namespace ${scope.namespace}`;
  const clusterWide = `ask an administrator of the cluster for a ClusterRoleBinding to ${role}`;
  const remedies = {
    'all namespaces': `leave out -A, or ${clusterWide}`,
    'the whole cluster': clusterWide,
  };
  return new FluxqError('FLUXQ_READ_FORBIDDEN', `${user} may not ${verb} ${resourceOf(path)} in ${where}`, {
    remedy:
      typeof scope === 'string'
        ? remedies[scope]
        : `ask an administrator of the namespace for a RoleBinding to ${role}`,
    cause: error,
  });
}

/** Errors of the reader have a code of their own. */
function ofReader(error: ApiError): FluxqError {
  return codedIn(error, /^(FLUXQ_\w+): (.*)$/s) ?? error;
}
