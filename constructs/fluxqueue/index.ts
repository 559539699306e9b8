export { Database, type SecretKey, type StatefulDatabaseProps } from './database';
export { FluxQueue } from './fluxqueue';
export type { AdmissionForm, ExternalRuntime, FluxQueueProps, MatchPolicy } from './props';
export { FluxSetup, type IFluxSetup } from './setup';
export type { FluxSetupProps, Limits, QueuePolicy, Quota } from './setup-props';
export { defaultStack } from './stack';
