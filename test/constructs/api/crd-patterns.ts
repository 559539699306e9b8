/** Patterns of durations in the CRDs, which are a part of what parseDuration reads. */

/** Duration of a FluxSetup: the units of Go's format that users need. */
export const CRD_DURATION_PATTERN = '^([0-9]+([.][0-9]+)?(h|m|s|ms))+$';

/** Walltime of a MiniCluster: such a duration or plain seconds, because it becomes a label of the Job. */
export const CRD_WALLTIME_PATTERN = '^([0-9]+([.][0-9]+)?|([0-9]+([.][0-9]+)?(h|m|s|ms))+)$';
