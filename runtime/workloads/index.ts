/** The table of adapters: one line per kind. */
import type { WorkloadAdapter } from './adapter';
import { jobAdapter } from './job';
import { podAdapter } from './pod';

// Each adapter only ever gets objects of its own kind: the table is keyed by it.
const ADAPTERS = [jobAdapter, podAdapter] as unknown as readonly WorkloadAdapter[];

export const adapters: ReadonlyMap<string, WorkloadAdapter> = new Map(
  ADAPTERS.map((adapter) => [adapter.kind, adapter]),
);
