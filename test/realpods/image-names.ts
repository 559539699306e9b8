/** Images of the rig itself. No registry has them: a pull would fail, as it should. */
const PREFIX = 'localhost/fluxqueue-test';

/** A small Debian: what the other images begin with, what the Jobs of the scenario run in, and what holds each pod's namespaces. */
export const BASE_IMAGE = `${PREFIX}/base:1`;
/** Stands in for docker.io/library/node. */
export const NODE_IMAGE = `${PREFIX}/node:1`;
/** Stands in for docker.io/fluxrm/flux-sched. */
export const FLUX_SCHED_IMAGE = `${PREFIX}/flux-sched:1`;
/** The base with a substitute for flux. */
export const FLUX_IMAGE = `${PREFIX}/flux:1`;
/** The base with the Flux of FLUX_PREFIX. */
export const REAL_FLUX_IMAGE = `${PREFIX}/real-flux:1`;
