export type { MatchPolicy, QueuePolicy } from '../api/policies';
export { FluxSetup, type IFluxSetup } from '../fluxsetup/fluxsetup';
export type { BillingWeights, FluxSetupProps, LendingLimit, Limits, Quota } from '../fluxsetup/props';
export type { AdmissionForm, ExternalRuntime } from './admission/form';
export {
  Database,
  type DatabaseOwnerProps,
  type ExistingDatabaseProps,
  type SecretKey,
  type StatefulDatabaseProps,
} from './database';
export { FluxQueue } from './fluxqueue';
export type { ImageProps } from './pods/images';
export type {
  Amounts,
  ContainerProbes,
  ContainerResources,
  ContainerSettings,
  DisruptionBudget,
  PodSettings,
  PodsProps,
  ProbeTimings,
  ReplicatedPodSettings,
} from './pods/props';
export type { FluxQueueProps } from './props';
export { defaultStack } from './stack';
