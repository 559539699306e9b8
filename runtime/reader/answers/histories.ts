/** `get histories/NAME`: the event logs of all workloads that had this name. */
import { FluxqError } from '../../errors';
import type { History } from '../kinds';
import type { ReadResource } from '../resource';
import { isSegment } from '../target';
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
      // The page of the dashboard asks for any text, and Postgres refuses some with an error of its own.
      if (!isSegment(namespace) || !isSegment(name)) throw neverQueued(namespace, name);
      const { queue } = await model.openTables();
      const entries = await queue.historyOf(namespace, name);
      if (entries.length === 0) throw neverQueued(namespace, name);
      return {
        ...answered('History', request),
        entries: entries.map(({ at, uid, kind, event, actor, why }) => ({
          at: isoOf(at),
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

function neverQueued(namespace: string, name: string): FluxqError {
  return new FluxqError('FLUXQ_HISTORY_NOT_FOUND', 'no workload of this name was ever queued', {
    field: `${namespace}/${name}`,
    remedy:
      'check the name and the namespace; kubectl fluxqueue queue --all prints those that the cluster still has',
  });
}
