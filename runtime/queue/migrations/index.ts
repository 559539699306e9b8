/**
 * Numbered migrations. They are append-only: a released migration never changes, a new file follows it. They are
 * TypeScript modules and not .sql files because the runtime is one bundled file without a folder to read from.
 */
import { workloads } from './000001-workloads';
import { policies } from './000002-policies';
import { accounting } from './000003-accounting';
import { dropForeignAllocations } from './000004-drop-foreign-allocations';

export interface Migration {
  /** 1, 2, 3, … without gaps. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'workloads', sql: workloads },
  { number: 2, name: 'policies', sql: policies },
  { number: 3, name: 'accounting', sql: accounting },
  { number: 4, name: 'drop-foreign-allocations', sql: dropForeignAllocations },
];
