/**
 * Annotations of a pod: for how many seconds its image is pulled, how many it runs, whether it fails, and how many it needs to
 * terminate.
 */
export const PULLS = 'fluxqueue.test/pulls';
export const RUNS = 'fluxqueue.test/runs';
export const FAILS = 'fluxqueue.test/fails';
export const LINGERS = 'fluxqueue.test/lingers';
/** Annotation of a pod that the test binds and runs itself. */
export const UNTOUCHED = 'fluxqueue.test/untouched';
/** Annotation of a template: how many seconds its pods run, one after the other, e.g. `3,3,40`. */
export const LENGTHS = 'fluxqueue.test/lengths';
/** Annotation of a template: how often the pods of an index fail before one succeeds, e.g. `1:2,4:99`. */
export const FAILURES = 'fluxqueue.test/failures';
