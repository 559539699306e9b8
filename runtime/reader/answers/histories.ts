/** `get histories/NAME`: the events of all workloads that had a name. */
import { FluxqError } from '../../errors';
import type { Queue } from '../../queue/store';
import { type History, READ_API } from '../kinds';
import type { ReadResource } from '../resource';

export function histories(queue: () => Promise<Pick<Queue, 'historyOf'>>): ReadResource {
  return {
    name: 'histories',
    singular: 'history',
    kind: 'History',
    namespaced: true,
    verbs: ['get'],
    async answer({ namespace = '', name = '' }): Promise<History> {
      const entries = await (await queue()).historyOf(namespace, name);
      if (entries.length === 0)
        throw new FluxqError('FLUXQ_HISTORY_NOT_FOUND', 'no workload of this name was ever queued', {
          field: `${namespace}/${name}`,
          remedy: 'check the name and the namespace; the history ends when the archive is removed',
        });
      return {
        apiVersion: READ_API,
        kind: 'History',
        metadata: { name, namespace },
        entries: entries.map(({ at, uid, kind, event, actor, why }) => ({
          at: new Date(at * 1000).toISOString(),
          uid,
          kind,
          event,
          actor,
          message: why,
        })),
      };
    },
  };
}
