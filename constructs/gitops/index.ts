export {
  ArgoCdApplication,
  type ArgoCdApplicationProps,
  ArgoCdApplicationSet,
  type ArgoCdApplicationSetProps,
  type ArgoCdSourceProps,
  type ClusterGenerator,
  type FolderGenerator,
} from './application';
export {
  ArgoCdHealth,
  type ArgoCdHealthProps,
  argoCdHealth,
  type FluxCdHealthCheck,
  fluxCdHealth,
} from './health';
export { FluxCdKustomization, type FluxCdKustomizationProps } from './kustomization';
export { writeKustomization } from './kustomize';
export {
  type FluxCdOciReference,
  FluxCdOciRepository,
  type FluxCdOciRepositoryProps,
} from './oci-repository';
