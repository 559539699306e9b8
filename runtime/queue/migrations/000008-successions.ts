/**
 * Adds evicted pods whose controllers create others, which take over their places: by uid of the evicted pod. An older
 * program leaves the table alone.
 */
export const successions = `
CREATE TABLE fluxqueue.successions (
  uid text PRIMARY KEY,
  controller text NOT NULL,
  predecessor jsonb NOT NULL,
  at timestamptz NOT NULL
);
`;
