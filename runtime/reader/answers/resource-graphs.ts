/** `get resourcegraphs/fluxion`: the nodes of the graph that the leader's Fluxion holds. */
import { FluxqError } from '../../errors';
import type { ResourceGraph } from '../kinds';
import type { ReadResource } from '../resource';
import { answered } from './answered';
import { withoutFluxion } from './node-reports';
import type { ReadModel } from './read-model';

/** There is one graph. */
const NAME = 'fluxion';

export function resourceGraphs(model: ReadModel): ReadResource {
  return {
    name: 'resourcegraphs',
    singular: 'resourcegraph',
    kind: 'ResourceGraph',
    namespaced: false,
    verbs: ['get'],
    async answer(request): Promise<ResourceGraph> {
      if (request.name !== NAME)
        throw new FluxqError('FLUXQ_QUERY_INVALID', 'is not the name of a graph', {
          field: 'name',
          value: request.name,
          remedy: `get resourcegraphs/${NAME}`,
        });
      const { leader } = await model.openTables();
      const stored = await leader.view();
      const why = withoutFluxion(stored);
      if (stored === undefined || why !== undefined)
        throw new FluxqError('FLUXQ_LEADER_SILENT', why ?? '', {
          field: 'resourcegraphs/fluxion',
          retryable: true,
        });
      const { bootId, nodes } = stored.view;
      return { ...answered('ResourceGraph', request), unitSizes: model.unitSizes, bootId, nodes };
    },
  };
}
