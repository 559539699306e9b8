/**
 * Writes to one certain object. Each of them carries the UID that it was decided for, and the apiserver compares it: a
 * later object of the same name is never changed. It is a result and not an error that the object is gone.
 */
import type { DeleteOptions, KubernetesClient } from './client';
import { type ApiError, isNoSuchObject, isStatus } from './errors';
import { objectPath } from './paths';
import type { KubernetesObject } from './types';

/**
 * done: the object is as requested. gone: the object does not exist any more, or another one has its name. conflict:
 * the object has changed since it was read, so it has to be read again.
 */
export type WriteOutcome = 'done' | 'gone' | 'conflict';

export type Patch =
  /** `metadata.uid` in the body is the precondition. */
  | { readonly type: 'merge'; readonly body: object }
  /** An operation `test /metadata/uid` is the precondition. */
  | { readonly type: 'json'; readonly body: readonly object[] };

/**
 * @param onDone called with the object as this patch left it
 * @throws FluxqError of the client for all other errors, e.g. an invalid patch, or a kind that is not served
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
    return outcomeOf(client, path, expectedUid(patch), error);
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
    return outcomeOf(client, path, options.uid, error);
  }
}

/**
 * The apiserver reports another UID in several ways: 409 for a delete, 422 "field is immutable" for a merge patch, 422
 * without any detail for a JSON patch. So the object is read, which is rare.
 */
async function outcomeOf(
  client: KubernetesClient,
  path: string,
  uid: string | undefined,
  error: unknown,
): Promise<WriteOutcome> {
  if (isNoSuchObject(error)) return 'gone';
  if (!isStatus(error, 409) && !isStatus(error, 422)) throw error;
  const current = await currentUid(client, path);
  if (current === undefined || (uid !== undefined && current !== uid)) return 'gone';
  if (error.status === 409 || isInapplicable(error)) return 'conflict';
  throw error;
}

async function currentUid(client: KubernetesClient, path: string): Promise<string | undefined> {
  try {
    return (await client.get<KubernetesObject>(objectPath(path), { metadataOnly: true })).metadata.uid;
  } catch (error) {
    if (isNoSuchObject(error)) return undefined;
    throw error;
  }
}

/** A JSON patch whose `test` failed or whose path does not exist. The apiserver gives only this sentence. */
function isInapplicable(error: ApiError): boolean {
  return error.message.includes('the server rejected our request due to an error in our request');
}

function expectedUid(patch: Patch): string | undefined {
  if (patch.type === 'merge') return (patch.body as { metadata?: { uid?: string } }).metadata?.uid;
  const operations = patch.body as readonly { op?: string; path?: string; value?: string }[];
  return operations.find(({ op, path }) => op === 'test' && path === '/metadata/uid')?.value;
}
