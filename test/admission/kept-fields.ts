/**
 * Fields of the spec of a Job that are put back after its start, each with why. The rule is about all fields that the
 * whitelist does not have, so only tests know these.
 * - `manualSelector` has no effect after the creation, and the runtime reads it.
 * - `podReplacementPolicy` allows two pods for one place of the grant.
 * - `scheduling` (alpha in Kubernetes 1.37) starts a part of a gang.
 */
export const KEPT_FIELDS: readonly string[] = ['manualSelector', 'podReplacementPolicy', 'scheduling'];
