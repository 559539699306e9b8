/** Finds the oldest archived workloads, which are removed after the retention of the archive. */
export const purge = `
CREATE INDEX archive_at ON fluxqueue.archive (archived_at);
`;
