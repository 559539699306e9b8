/** Where a lead broker cannot report what runs inside. */
import type { MiniClusterResource } from './resource';
import type { DefaultedSpec } from './schema';
import type { ValidationIssue } from './validation-issue';

const PATH = 'spec.flux.report';

export function joinedReportIssues({ flux }: DefaultedSpec): ValidationIssue[] {
  if (flux.report !== true || flux.bursting?.leadBroker === undefined) return [];
  return [
    {
      path: PATH,
      message:
        'is not supported for brokers that join another MiniCluster, whose lead broker reports for both',
      value: true,
      remedy: 'set it there and remove it here',
    },
  ];
}

/** Mistakes of a resource that is rendered without the controller, to which its lead broker would report. */
export function staticReportIssues({ spec }: MiniClusterResource): ValidationIssue[] {
  if (spec.flux?.report !== true) return [];
  return [
    {
      path: PATH,
      message: 'requires the controller, which writes the status of live MiniClusters',
      value: true,
      remedy: 'apply the MiniCluster itself, or remove it',
      propRemedy: 'set live to true, or remove it',
    },
  ];
}
