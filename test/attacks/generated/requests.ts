/** The requests by which a user can make an object what it is in a mutation. */
import type { KubeObject } from '../../cluster/api';
import type { Act } from '../attack';

export const WAYS = ['merge patch', 'strategic merge patch', 'JSON patch', 'apply', 'replace'] as const;
export type Way = (typeof WAYS)[number];

/** @param before as the apiserver has it @param path of the change, of which a JSON patch replaces the field of the second level */
export function requests(
  at: string,
  before: KubeObject,
  after: KubeObject,
  path: readonly (string | number)[],
): Readonly<Record<Way, Act>> {
  const [part = '', field] = path as readonly [string, string | undefined];
  const value = field === undefined ? undefined : (after as Fields)[part]?.[field];
  const pointer = `/${part}${field === undefined ? '' : `/${field}`}`;
  return {
    'merge patch': { verb: 'PATCH', path: at, body: patchOf(before, after) },
    'strategic merge patch': {
      verb: 'PATCH',
      path: at,
      body: patchOf(before, after),
      type: 'application/strategic-merge-patch+json',
    },
    'JSON patch': {
      verb: 'PATCH',
      path: at,
      body: [value === undefined ? { op: 'remove', path: pointer } : { op: 'add', path: pointer, value }],
      type: 'application/json-patch+json',
    },
    apply: { verb: 'PATCH', path: at, body: manifestOf(after), type: 'application/apply-patch+yaml' },
    replace: { verb: 'PUT', path: at, body: after },
  };
}

type Fields = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>> & KubeObject;

/** As in Git: without what the apiserver writes. */
function manifestOf({ apiVersion, kind, metadata, spec }: KubeObject): object {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, labels, annotations, finalizers, ownerReferences },
    spec,
  };
}

/** RFC 7396. */
function patchOf(before: unknown, after: unknown): object {
  const patch: Record<string, unknown> = {};
  const [was, is] = [before, after] as readonly Record<string, unknown>[];
  for (const key of new Set([...Object.keys(was!), ...Object.keys(is!)])) {
    const [one, other] = [was![key], is![key]];
    if (JSON.stringify(one) === JSON.stringify(other)) continue;
    const isNested = [one, other].every((it) => typeof it === 'object' && it !== null && !Array.isArray(it));
    patch[key] = other === undefined ? null : isNested ? patchOf(one, other) : other;
  }
  return patch;
}
