/** The adapter of each workload kind. */
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import type { WorkloadAdapter } from './adapter';
import { groupAdapter } from './group-adapter';
import { jobAdapter } from './job';
import { kindAdapter } from './kind-adapter';
import { podAdapter } from './pod';

// The map is keyed by kind, so each adapter receives objects of its own kind only.
const ADAPTERS = [
  jobAdapter,
  podAdapter,
  groupAdapter,
  ...WORKLOAD_KINDS.map(kindAdapter),
] as unknown as readonly WorkloadAdapter[];

export const adapters: ReadonlyMap<string, WorkloadAdapter> = new Map(
  ADAPTERS.map((adapter) => [adapter.kind, adapter]),
);
