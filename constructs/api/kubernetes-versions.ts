/** Minor versions of Kubernetes that the stack needs. */

/** First minor version that serves MutatingAdmissionPolicy in v1. */
export const FIRST_WITH_POLICIES = 36;

/** First minor version that serves ValidatingAdmissionPolicy in v1, of which every stack has some. */
export const OLDEST_KUBERNETES = 30;
