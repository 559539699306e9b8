/** The history of a workload that explains something else, so an answer that does not come at once is not awaited. */
import type { KubernetesClient } from '../kubernetes/client';
import { ask, histories } from '../kubernetes/read-api';
import type { History } from '../reader/kinds';

/** @throws FluxqError without the read API, or the right to it */
export function historyAtOnce(client: KubernetesClient, namespace: string, name: string): Promise<History> {
  return ask<History>(client, {
    verb: 'get',
    path: histories(namespace, name),
    scope: { namespace },
    request: { retries: 0 },
  });
}
