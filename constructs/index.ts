/** Exports of the package: the stack, its queues and MiniClusters. */
export * from './fluxqueue';
export * from './minicluster';
