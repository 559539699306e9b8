export { checkMiniCluster } from './check';
export { brokerSelector, type ObjectNames, objectNames } from './names';
export { type Problem, problemLine } from './problem';
export { renderMiniCluster } from './render';
export type {
  KeygenOptions,
  ManifestObject,
  MiniClusterResource,
  MiniClusterSpec,
  RenderOptions,
} from './resource';
export { Certificate } from './certificate';
export type { ComputeProps, ContainerProps } from './container-props';
export { MiniCluster } from './minicluster';
export type { MiniClusterProps, ViewProps } from './props';
export { MiniClusterVolume } from './volume';
