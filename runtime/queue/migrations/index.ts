/**
 * Numbered migrations. They are append-only: a released migration never changes, a new file follows it. They are
 * TypeScript modules and not .sql files because the runtime is one bundled file without a folder to read from.
 *
 * During a rolling update programs of two releases use the tables at once, and an update may be undone. So a migration
 * only adds: nullable columns, columns with a default, tables, indexes. What it replaces is removed one release later, by
 * a migration with a `minimum`: no program of the release before uses it any more.
 */
import { workloads } from './000001-workloads';
import { policies } from './000002-policies';
import { accounting } from './000003-accounting';
import { dropForeignAllocations } from './000004-drop-foreign-allocations';
import { jobids } from './000005-jobids';
import { purge } from './000006-purge';
import { failedGrants } from './000007-failed-grants';
import { successions } from './000008-successions';
import { billing } from './000009-billing';
import { leaderView } from './000010-leader-view';
import { clusterRequeues } from './000011-cluster-requeues';
import { metDependencies } from './000012-met-dependencies';

export interface Migration {
  /** 1, 2, 3, … without gaps. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /**
   * The lowest migration that a program must know to use the tables after this one. Set by a migration that removes
   * something. @default - no other than before
   */
  readonly minimum?: number;
}

export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'workloads', sql: workloads },
  { number: 2, name: 'policies', sql: policies },
  { number: 3, name: 'accounting', sql: accounting },
  { number: 4, name: 'drop-foreign-allocations', sql: dropForeignAllocations },
  { number: 5, name: 'jobids', sql: jobids },
  { number: 6, name: 'purge', sql: purge },
  { number: 7, name: 'failed-grants', sql: failedGrants },
  { number: 8, name: 'successions', sql: successions },
  { number: 9, name: 'billing', sql: billing },
  { number: 10, name: 'leader-view', sql: leaderView },
  { number: 11, name: 'cluster-requeues', sql: clusterRequeues },
  { number: 12, name: 'met-dependencies', sql: metDependencies },
];
