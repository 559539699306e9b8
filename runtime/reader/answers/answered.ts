/** What all answers of the read API have in common. */
import { READ_API } from '../kinds';
import type { ReadRequest } from '../resource';

/** The head of an answer to this request. */
export function answered<K extends string>(
  kind: K,
  { name, namespace }: Pick<ReadRequest, 'name' | 'namespace'>,
) {
  const metadata = { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
  return { apiVersion: READ_API, kind, metadata } as const;
}

/** ISO 8601 in UTC. @param seconds Unix seconds */
export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
