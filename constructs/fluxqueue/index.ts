/** What the package exports of the stack, and the one that dist/, the chart of Helm and the local cluster have. */
export * from './public';
export { defaultStack } from './stack';
