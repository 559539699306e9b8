/**
 * Writes that mean one certain object. Every one names the UID it was decided
 * for, and the apiserver compares: an object of the same name that came later
 * is never touched. That the object is gone is an answer here, not an error.
 */
import type { DeleteOptions, KubernetesClient } from './client';
import { type ApiError, isStatus } from './errors';
import { objectPath } from './paths';
import type { KubernetesObject } from './types';

/**
 * done: it is as asked for. gone: there is no such object any more (or another one has
 * its name). conflict: it is there, but changed since it was read: read again.
 */
export type WriteOutcome = 'done' | 'gone' | 'conflict';

export type Patch =
  /** With `metadata.uid` in the body: the precondition. */
  | { readonly type: 'merge'; readonly body: object }
  /** With an operation `test /metadata/uid`: the precondition. */
  | { readonly type: 'json'; readonly body: readonly object[] };

/**
 * @param onDone told of the object as this patch left it
 * @throws FluxqError of the client for everything else, e.g. an invalid patch
 */
export async function applyPatch(
  client: KubernetesClient,
  path: string,
  patch: Patch,
  onDone: (left: Pick<KubernetesObject, 'metadata'>) => void = () => undefined,
): Promise<WriteOutcome> {
  try {
    onDone(await client.patch<KubernetesObject>(path, patch.body, patch.type, { metadataOnly: true }));
    return 'done';
  } catch (error) {
    return whatHappened(client, path, expectedUid(patch), error);
  }
}

/** @throws as {@link applyPatch} */
export async function deleteObject(
  client: KubernetesClient,
  path: string,
  options: DeleteOptions & { readonly uid: string },
): Promise<WriteOutcome> {
  try {
    await client.delete(path, options);
    return 'done';
  } catch (error) {
    return whatHappened(client, path, options.uid, error);
  }
}

/**
 * The apiserver answers a different UID in three ways: 409 to a delete, 422 "field is immutable" to a merge patch, and
 * 422 without any detail to a JSON patch. It is rare, so the object is read.
 */
async function whatHappened(
  client: KubernetesClient,
  path: string,
  uid: string | undefined,
  error: unknown,
): Promise<WriteOutcome> {
  if (isStatus(error, 404)) return 'gone';
  if (!isStatus(error, 409) && !isStatus(error, 422)) throw error;
  const current = await currentUid(client, path);
  if (current === undefined || (uid !== undefined && current !== uid)) return 'gone';
  if (error.status === 409 || isInapplicable(error)) return 'conflict';
  throw error;
}

async function currentUid(client: KubernetesClient, path: string): Promise<string | undefined> {
  try {
    return (await client.get<KubernetesObject>(objectPath(path))).metadata.uid;
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** A JSON patch whose `test` failed or whose path is not there: all the apiserver says is this sentence. */
function isInapplicable(error: ApiError): boolean {
  return error.message.includes('the server rejected our request due to an error in our request');
}

function expectedUid(patch: Patch): string | undefined {
  if (patch.type === 'merge') return (patch.body as { metadata?: { uid?: string } }).metadata?.uid;
  const operations = patch.body as readonly { op?: string; path?: string; value?: string }[];
  return operations.find(({ op, path }) => op === 'test' && path === '/metadata/uid')?.value;
}
