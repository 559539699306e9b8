/**
 * Adds decayed memory and gpus to the usage for fair share. An older program writes only cores and the time: after an
 * update is undone and done again, the other columns are taken for newer than they are until they have decayed.
 */
export const billing = `
ALTER TABLE fluxqueue.fair_share
  ADD COLUMN memory_gib_seconds double precision NOT NULL DEFAULT 0,
  ADD COLUMN gpu_seconds double precision NOT NULL DEFAULT 0;
`;
