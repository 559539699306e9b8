export {
  ArgoCdHealth,
  type ArgoCdHealthProps,
  argoCdHealth,
  type FluxCdHealthCheck,
  fluxCdHealth,
} from './health';
export { FluxCdKustomization, type FluxCdKustomizationProps } from './kustomization';
export { writeKustomization } from './kustomize';
