/**
 * An object that the spec names: made elsewhere (`fromSecretName`) or in the same program. Under exactOptionalPropertyTypes
 * cdk8s-plus's classes don't fit its own interfaces, because of this one property, which nothing here reads.
 */
export type Reference<T> = Omit<T, 'resourceName'>;
