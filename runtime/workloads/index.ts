/** The adapter of each workload kind. */
import type { WorkloadAdapter } from './adapter';
import { groupAdapter } from './group-adapter';
import { jobAdapter } from './job';
import { podAdapter } from './pod';

// The map is keyed by kind, so each adapter receives objects of its own kind only.
const ADAPTERS = [jobAdapter, podAdapter, groupAdapter] as unknown as readonly WorkloadAdapter[];

export const adapters: ReadonlyMap<string, WorkloadAdapter> = new Map(
  ADAPTERS.map((adapter) => [adapter.kind, adapter]),
);
