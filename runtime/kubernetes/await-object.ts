/** Waits for a state of one object, without asking again and again. */
import type { KubernetesClient } from './client';
import type { KubernetesObject } from './types';

export interface AwaitOptions<K> {
  readonly name: string;
  /** Whole seconds: at least 1. The server counts them. */
  readonly seconds: number;
  /** @default - any state */
  readonly isIt?: (object: K) => boolean;
}

/**
 * The first state of the object that is meant, or nothing if it did not come in time.
 * @param path of the list that it is in
 */
export async function awaitObject<K extends KubernetesObject>(
  client: Pick<KubernetesClient, 'list' | 'watch'>,
  path: string,
  { name, seconds, isIt = () => true }: AwaitOptions<K>,
): Promise<K | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  const { items, metadata } = await client.list<K>(path, { fieldSelector });
  let found = items.find(isIt);
  if (found !== undefined) return found;
  const stop = new AbortController();
  const { resourceVersion } = metadata;
  const watch = { fieldSelector, resourceVersion, timeoutSeconds: seconds, signal: stop.signal };
  await client.watch<K>(path, watch, ({ type, object }) => {
    if ((type !== 'ADDED' && type !== 'MODIFIED') || !isIt(object)) return;
    found ??= object;
    stop.abort();
  });
  return found;
}
