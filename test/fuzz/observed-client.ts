import type { KubernetesClient } from '../../runtime/kubernetes/client';

export interface ClientObserver {
  /** Called before the list; what it throws is the answer. */
  listed(path: string): void;
  /** Called when a watch is closed. */
  closed?(path: string): void;
}

/** The same client, which tells of lists and watches. */
export function observedClient(client: KubernetesClient, observer: ClientObserver): KubernetesClient {
  const list = client.list.bind(client);
  const watch = client.watch.bind(client);
  return Object.assign(client, {
    list: (async (path, options) => {
      observer.listed(path);
      return list(path, options);
    }) satisfies KubernetesClient['list'],
    watch: ((path, options, onEvent) => {
      options.signal.addEventListener('abort', () => observer.closed?.(path));
      return watch(path, options, onEvent);
    }) satisfies KubernetesClient['watch'],
  });
}
