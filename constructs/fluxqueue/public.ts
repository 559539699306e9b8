export type { FluxJobPolicy, MatchPolicy, QueuePolicy } from '../api/policies';
export { FluxSetup, type IFluxSetup } from '../fluxsetup/fluxsetup';
export type { BillingWeights, FluxSetupProps, LendingLimit, Limits, Quota } from '../fluxsetup/props';
export type { AdmissionChoice, AdmissionForm, ExternalReader, ExternalRuntime } from './admission/form';
export {
  type BackupProps,
  BackupTarget,
  type S3TargetProps,
  type VolumeTargetProps,
} from './backup-target';
export { type CertificateIssuer, type CertManagerProps, WebhookCertificate } from './certificates';
export type { CloudNativeDatabaseProps } from './cloud-native-pg';
export { Database, type DatabaseOwnerProps, type ExistingDatabaseProps, type SecretKey } from './database';
export { FluxQueue } from './fluxqueue';
export type { MonitoringProps } from './monitoring';
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
export type { StatefulDatabaseProps } from './postgres';
export type { FluxQueueProps } from './props';
