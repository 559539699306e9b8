/** Exports of the package: the stack, its queues and MiniClusters, and what engines of GitOps need to know of them. */
export * from './fluxqueue';
export * from './gitops';
export * from './minicluster';
