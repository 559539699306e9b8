/** Exports of the package: the stack, its queues and MiniClusters, what engines of GitOps need to know of them, and the plugin for `cdk8s synth`. */
export { PropsError } from './api/errors';
export * from './fluxqueue/public';
export * from './gitops';
export * from './minicluster';
export * from './validation';
