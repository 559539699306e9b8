export { Database, type SecretKey, type StatefulDatabaseProps } from './database';
export { FluxQueue } from './fluxqueue';
export type { AdmissionForm, ExternalRuntime, FluxQueueProps, MatchPolicy } from './props';
export { defaultStack } from './stack';
