/** Durations in the CRDs, which are a part of what parseDuration reads. */

import { CRD_WALLTIME_PATTERN } from '../../../constructs/api/durations';

/** Walltimes of a FluxSetup: not in plain seconds. */
export const CRD_QUEUE_WALLTIME_PATTERN = CRD_WALLTIME_PATTERN.replace('[0-9]+([.][0-9]+)?|', '');

/** Durations that CEL can compare, and the only form of those of a FluxSetup that are no walltimes. */
export const CRD_DURATION_PATTERN = '^([0-9]+([.][0-9]+)?(h|m|s|ms))+$';
