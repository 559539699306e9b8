export { Certificate } from './certificate';
export { checkMiniCluster } from './check';
export type { ComputeProps, ContainerProps } from './container-props';
export { MiniCluster } from './minicluster';
export { brokerSelector, type ObjectNames, objectNames } from './names';
export { type Problem, problemLine } from './problem';
export type { MiniClusterProps, ViewProps } from './props';
export { renderMiniCluster } from './render';
export type {
  KeygenOptions,
  ManifestObject,
  MiniClusterResource,
  MiniClusterSpec,
  RenderOptions,
} from './resource';
export { MiniClusterVolume } from './volume';
