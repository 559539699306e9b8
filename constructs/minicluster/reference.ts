/**
 * A Kubernetes object that a prop refers to: one that the same program creates, or one that exists (`fromSecretName`).
 * Under exactOptionalPropertyTypes the classes of cdk8s-plus do not match their own interfaces because of
 * `resourceName`, which a MiniCluster does not read.
 */
export type Reference<T> = Omit<T, 'resourceName'>;
