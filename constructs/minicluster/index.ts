export { Certificate } from './certificate';
export type { ComputeProps, ContainerProps } from './container-props';
export { MiniCluster } from './minicluster';
export { brokerSelector, type ObjectNames, objectNames } from './names';
export type { MiniClusterProps, ViewProps } from './props';
export { renderMiniCluster } from './render';
export type {
  KeygenOptions,
  ManifestObject,
  MiniClusterResource,
  MiniClusterSpec,
  RenderOptions,
} from './resource';
export { checkMiniCluster } from './validate';
export { type Problem, problemLine } from './validation-issue';
export { MiniClusterVolume } from './volume';
