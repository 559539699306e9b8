/**
 * Rights of the role with which the queue works at run time. It reads and writes rows; tables are created, changed and
 * dropped by their owner, who migrates. A migration that adds a table adds its line here.
 */
import { escapeIdentifier } from 'pg';

const ALL = 'SELECT, INSERT, UPDATE, DELETE';

/** Privileges by table. FOR SHARE and FOR UPDATE need UPDATE. */
export const TABLE_GRANTS: Readonly<Record<string, string>> = {
  leader: 'SELECT, UPDATE',
  leader_view: 'SELECT, INSERT, UPDATE',
  queues: ALL,
  workloads: ALL,
  events: ALL,
  successions: ALL,
  usage: 'SELECT, INSERT, DELETE',
  fair_share: 'SELECT, INSERT, UPDATE',
  usage_days: 'SELECT, INSERT, UPDATE',
  archive: 'SELECT, INSERT, DELETE',
  schema_migrations: 'SELECT',
  // For dumps: the record of the release before.
  migrations: 'SELECT',
};

/** An adoption moves the sequence beyond the job ids in use; a submission takes the next `seq` by name. Dumps read all of them. */
const SEQUENCE_GRANTS = {
  jobid: 'SELECT, USAGE, UPDATE',
  workloads_seq_seq: 'SELECT, USAGE',
  events_id_seq: 'SELECT',
  usage_id_seq: 'SELECT',
} as const;

/** Statements that give these rights to a role that exists. During a rolling update both releases use the role, so none is revoked. */
export function grantStatements(role: string): string {
  const to = escapeIdentifier(role);
  const on = (kind: string, grants: Readonly<Record<string, string>>) =>
    Object.entries(grants).map(([name, rights]) => `GRANT ${rights} ON ${kind} fluxqueue.${name} TO ${to}`);
  return [
    `GRANT USAGE ON SCHEMA fluxqueue TO ${to}`,
    ...on('TABLE', TABLE_GRANTS),
    ...on('SEQUENCE', SEQUENCE_GRANTS),
  ].join(';\n');
}
