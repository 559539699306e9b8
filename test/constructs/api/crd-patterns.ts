/** Durations in the CRDs, which are a part of what parseDuration reads. */

/** Durations that CEL can compare, and the only form of those of a FluxSetup that are no walltimes. */
export const CRD_DURATION_PATTERN = '^([0-9]+([.][0-9]+)?(h|m|s|ms))+$';
