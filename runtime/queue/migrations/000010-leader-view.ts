/** Adds what the leader last said of Fluxion: one row, written when somebody asks. An older program leaves the table alone. */
export const leaderView = `
CREATE TABLE fluxqueue.leader_view (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  fence bigint NOT NULL,
  at timestamptz NOT NULL,
  view jsonb NOT NULL
);
`;
