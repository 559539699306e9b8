/** The cluster as the watches have it: what a term decides on, and what answers of the reader are made of. */
import type { Clock } from '../clock';
import type { Config } from '../config';
import { QueueRegistry } from '../fluxsetups/queue-registry';
import { stackQueue } from '../fluxsetups/queue-settings';
import { agentsOf } from '../shared/agents';
import type { Informers } from '../shared/informers';
import { Namespaces } from '../shared/namespaces';
import { NodeCache } from '../shared/node-cache';
import { WorkloadObjects } from '../shared/workload-objects';
import { podFacts } from '../workloads/pod-facts';

/**
 * @param informers not started yet, or replayed later: what they report before is not seen
 * @param activeRow the row of a group of pods. @default - no group has a row
 */
export function clusterView(
  { units, queue, namespaces }: Pick<Config, 'units' | 'queue' | 'namespaces'>,
  informers: Informers,
  clock: Clock,
  activeRow?: ConstructorParameters<typeof WorkloadObjects>[2],
) {
  const labels = new Namespaces(informers.namespaces, namespaces);
  return {
    informers,
    namespaces: labels,
    nodes: new NodeCache(informers.nodes, units, agentsOf(informers.pods, podFacts)),
    workloads: new WorkloadObjects(informers, podFacts, activeRow, clock),
    podFacts,
    queues: new QueueRegistry(
      stackQueue(queue),
      queue.enabled,
      () => informers.fluxSetups.list(),
      (namespace) => labels.queueOf(namespace),
    ),
  };
}
