/** Drops a table that no release has ever written: units of pods outside the queue are read from the cluster. */
export const dropForeignAllocations = `
DROP TABLE fluxqueue.foreign_allocations;
`;
