/**
 * Questions to the read API (docs/decisions/0042-read-api.md) with the rights of the user who asks. What goes wrong becomes one sentence:
 * the read API is not installed, it does not answer, or its user lacks a right.
 */
import { FluxqError } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { resourceOf } from '../kubernetes/paths';
import { hasReadApi } from '../kubernetes/read-api';

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
};

/** @throws FluxqError FLUXQ_READ_API_MISSING, FLUXQ_READ_API_DOWN, FLUXQ_READ_FORBIDDEN, or what the read API refuses */
export async function ask<T>(client: KubernetesClient, question: Question): Promise<T> {
  try {
    if (question.verb === 'create') return await client.create<T>(question.path, question.body);
    const query = `${new URLSearchParams(question.query)}`;
    return await client.get<T>(query === '' ? question.path : `${question.path}?${query}`);
  } catch (error) {
    throw error instanceof ApiError ? await explained(error, client, question) : error;
  }
}

/** The apiserver or the reader itself have no answer. */
const DOWN: ReadonlySet<number> = new Set([502, 503, 504]);

/** What an apiserver says of a path that nothing serves. */
const NOTHING_THERE = /could not find the requested resource|page not found/;

async function explained(error: ApiError, client: KubernetesClient, question: Question): Promise<FluxqError> {
  if (DOWN.has(error.status)) return down(error);
  if (error.status === 404) {
    const isThere = !NOTHING_THERE.test(error.message) && (await hasReadApi(client));
    return isThere ? ofReader(error) : missing();
  }
  if (error.status === 403) return (await hasReadApi(client)) ? forbidden(error, question) : missing();
  return ofReader(error);
}

function missing(): FluxqError {
  return new FluxqError('FLUXQ_READ_API_MISSING', 'this cluster has no read API of the queue', {
    remedy: 'ask an administrator for a stack that has it (readApi)',
  });
}

function down(error: ApiError): FluxqError {
  return new FluxqError('FLUXQ_READ_API_DOWN', `the read API has no answer now: ${saidBy(error)}`, {
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
  const [, code, sentence] = /^(FLUXQ_\w+): (.*)$/s.exec(saidBy(error)) ?? [];
  return code === undefined || sentence === undefined
    ? error
    : new FluxqError(code as `FLUXQ_${string}`, sentence, { cause: error });
}

/** What the server said, without what the client put around it. */
function saidBy({ code, field, message, remedy }: ApiError): string {
  const start = `${code}: ${field}: `;
  const said = message.startsWith(start) ? message.slice(start.length) : message;
  return remedy !== undefined && said.endsWith(`; ${remedy}`) ? said.slice(0, -remedy.length - 2) : said;
}
