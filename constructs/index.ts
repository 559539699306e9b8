/** What the package exports: the stack and its queues, MiniClusters. */
export * from './fluxqueue';
export * from './minicluster';
