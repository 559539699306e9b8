/** `get histories/NAME`: the event logs of all workloads that had this name. Of a name that nobody had it has no entries. */
import type { History } from '../kinds';
import type { ReadResource } from '../resource';
import { answered, isoOf } from './answered';
import type { ReadModel } from './read-model';

export function histories(model: ReadModel): ReadResource {
  return {
    name: 'histories',
    singular: 'history',
    kind: 'History',
    namespaced: true,
    verbs: ['get'],
    async answer(request): Promise<History> {
      const { namespace = '', name = '' } = request;
      const { queue } = await model.openTables();
      const entries = await queue.historyOf(namespace, name);
      return {
        ...answered('History', request),
        entries: entries.map(({ at, uid, kind, event, actor, why }) => ({
          at: isoOf(at),
          uid,
          // Of an event whose row has gone.
          kind: kind ?? '',
          event,
          actor,
          message: why,
        })),
      };
    },
  };
}
