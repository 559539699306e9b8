export { Certificate } from './certificate';
export type { ComputeProps, MiniClusterContainerProps } from './container-props';
export type { FluxViewProps, MiniClusterFluxProps } from './flux-props';
export type { MiniClusterJobProps } from './job-props';
export type { MiniClusterLoggingProps } from './logging-props';
export { MiniCluster } from './minicluster';
export { MiniClusterContainer } from './minicluster-container';
export { brokerSelector, type ObjectNames, objectNames } from './names';
export type { MiniClusterNetworkProps } from './network-props';
export type { MiniClusterPodProps, PodResources } from './pod-props';
export type { MiniClusterProps } from './props';
export { renderMiniCluster } from './render';
export type {
  KeygenOptions,
  ManifestObject,
  MiniClusterResource,
  MiniClusterSpec,
  RenderOptions,
  ReportContact,
} from './resource';
export type { MiniClusterSchedulingProps } from './scheduling-props';
export { validateMiniCluster } from './validate';
export { staticReportIssues } from './validate-report';
export { formatIssue, type ValidationIssue } from './validation-issue';
export { MiniClusterVolume } from './volume';
