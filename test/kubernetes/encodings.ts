/** What a watch delivers in JSON and in protobuf. */
import type { KubernetesClient, WatchEvent } from '../../runtime/kubernetes/client';
import type { Message } from '../../runtime/kubernetes/protobuf';
import type { KubernetesObject } from '../../runtime/kubernetes/types';

/**
 * Watches in one encoding until the server ends it, after 6 s. A busy server may have sent no bookmark by then: the same events
 * are watched again.
 */
export async function eventsOf<T extends KubernetesObject>(
  client: KubernetesClient,
  path: string,
  { protobuf, resourceVersion }: { readonly protobuf?: Message; readonly resourceVersion: string },
): Promise<WatchEvent<T>[]> {
  const { signal } = new AbortController();
  const options = { ...(protobuf && { protobuf }), resourceVersion, signal, timeoutSeconds: 6 };
  let events: WatchEvent<T>[] = [];
  while (!events.some(({ type }) => type === 'BOOKMARK')) {
    events = [];
    await client.watch<T>(path, options, (event) => events.push(event));
  }
  return events;
}

/** The events without bookmarks, with what is kept of their objects. */
export function changesOf<T extends KubernetesObject>(
  events: readonly WatchEvent<T>[],
  project: (object: T) => unknown,
): unknown[] {
  return events
    .filter(({ type }) => type !== 'BOOKMARK')
    .map(({ type, object }) => ({ type, object: project(object) }));
}
