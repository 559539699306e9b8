import { parseConfig } from '../../runtime/config';
import { QueueRegistry } from '../../runtime/fluxsetups/queue-registry';
import { stackQueue } from '../../runtime/fluxsetups/queue-settings';
import { NO_FACTS } from '../../runtime/jobspec/constraints';
import { NO_STORAGE } from '../../runtime/jobspec/volumes';
import { createLogger } from '../../runtime/observability/log';
import type { WorkloadCache } from '../../runtime/queue/workload-cache';
import { SubmissionBuilder } from '../../runtime/workloads/submission';
import type { SubmissionBuilderOptions } from '../../runtime/workloads/submission-options';

const { queue, units } = parseConfig({});

/** Submissions to the stack's own queue, in a cluster without labels, taints and volumes. */
export function defaultSubmissions(
  workloadCache: WorkloadCache,
  onInvalid: SubmissionBuilderOptions['onInvalid'],
  over: Partial<SubmissionBuilderOptions> = {},
): SubmissionBuilder {
  return new SubmissionBuilder({
    workloadCache,
    queues: new QueueRegistry(stackQueue(queue), true, () => []),
    priorityOf: () => undefined,
    units,
    clusterFacts: () => NO_FACTS,
    nodeOf: (name) => ({ name, units: {} }),
    runtimeClassOf: () => undefined,
    limitRangesOf: () => [],
    storage: NO_STORAGE,
    groupSeconds: 600,
    onInvalid,
    onReduced: () => undefined,
    logger: createLogger('test', 'silent'),
    ...over,
  });
}
