/** What a URL asks for. The apiserver authorizes what it reads in the URL, so both must read the same in it. */
import { READ_GROUP, READ_VERSION } from '../../constructs/api/labels';
import type { ReadVerb } from './resource';
import { Refusal } from './status';

/** A request for a resource. */
export interface Target {
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Of a request to a subresource `proxy`: the path behind it, with its slash. */
  readonly proxied?: string;
}

const ROOT = `/apis/${READ_GROUP}/${READ_VERSION}/`;

/** @returns undefined for a path that is not one of a resource @throws Refusal for a path that cannot be read */
export function targetOf(path: string): Target | undefined {
  if (!path.startsWith(ROOT)) return undefined;
  const parts = path.slice(ROOT.length).split('/');
  const inNamespace = parts[0] === 'namespaces' && parts.length > 2;
  const [resource = '', name, subresource, ...rest] = inNamespace ? parts.slice(2) : parts;
  const place = {
    resource: decoded(resource),
    ...(inNamespace && { namespace: decoded(parts[1]!) }),
  };
  if (subresource === 'proxy' && name)
    return { ...place, name: decoded(name), proxied: `/${rest.join('/')}` };
  if (subresource !== undefined || resource === '' || name === '') return undefined;
  return { ...place, ...(name !== undefined && { name: decoded(name) }) };
}

/** A part that holds another slash would be one path for the apiserver, and another one here. */
function decoded(part: string): string {
  let text: string;
  try {
    text = decodeURIComponent(part);
  } catch (cause) {
    throw new Refusal(400, `the path has a part that is not valid URL encoding: ${part}`, cause);
  }
  if (isSegment(text)) return text;
  throw new Refusal(400, 'a part of the path is empty or not a name');
}

/** Whether objects can have this name: as for the apiserver, no slash, no step to another folder, and nothing that cannot be seen. */
export function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/%\p{Cc}]/u.test(text);
}

/**
 * The verb of the request, as the apiserver authorizes it.
 * @throws Refusal for methods that no resource has
 */
export function verbOf(method: string, { name }: Target, query = new URLSearchParams()): ReadVerb {
  if (method === 'GET' || method === 'HEAD') {
    if (name !== undefined) return 'get';
    if (!isWatch(query)) return 'list';
    throw new Refusal(405, 'the server does not support watch on this resource');
  }
  if (method === 'POST' && name === undefined) return 'create';
  throw new Refusal(405, `the server does not support ${method} on this resource`);
}

const isWatch = (query: URLSearchParams): boolean =>
  query.has('watch') && !['0', 'false'].includes(query.get('watch') ?? '');
