/** Submissions as the watches and the settings of the stack make them. */
import { makerOf } from '../shared/makers';
import type { Shared } from '../shared/shared';
import { storageFacts } from '../shared/storage';
import { SubmissionBuilder } from './submission';
import type { SubmissionBuilderOptions } from './submission-options';

type Watched = Pick<Shared, 'config' | 'logger' | 'queues' | 'nodes' | 'informers'> &
  Pick<SubmissionBuilderOptions, 'workloadCache'> & { readonly workloads?: Shared['workloads'] };

export function submissionsOf(
  { config, logger, workloadCache, queues, nodes, informers, workloads }: Watched,
  reports: Pick<
    SubmissionBuilderOptions,
    'onInvalid' | 'onReduced' | 'onLearned' | 'mutationsFor' | 'owners'
  >,
): SubmissionBuilder {
  return new SubmissionBuilder({
    ...reports,
    workloadCache,
    queues,
    priorityOf: (className) => priorityOf(informers, className),
    units: config.units,
    clusterFacts: () => nodes.clusterFacts(),
    nodeOf: (name) => nodes.graphNodes().get(name),
    runtimeClassOf: (name) => informers.runtimeClasses.get(name),
    limitRangesOf: (namespace) => informers.limitRanges.byIndex('namespace', namespace),
    storage: storageFacts(informers),
    creatorOf: (kind, object) => {
      const maker = makerOf(informers, kind, object);
      return maker === undefined || maker === 'awaited' ? object : maker;
    },
    ...(workloads && { podsOf: (workload) => workloads.podsOf(workload) }),
    groupSeconds: config.grants.groupSeconds,
    logger,
  });
}

/** The value of a PriorityClass; without a name, the value of the cluster's default class. */
function priorityOf(
  { priorityClasses }: Pick<Shared['informers'], 'priorityClasses'>,
  className: string | undefined,
): number | undefined {
  if (className !== undefined) return priorityClasses.get(className)?.value;
  return priorityClasses.list().find(({ globalDefault }) => globalDefault === true)?.value;
}
