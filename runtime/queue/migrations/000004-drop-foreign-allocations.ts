/**
 * Drops a table that no release has ever read or written: units of pods outside the queue are read from the cluster. So
 * it needs no release in between.
 */
export const dropForeignAllocations = `
DROP TABLE fluxqueue.foreign_allocations;
`;
