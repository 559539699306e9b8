import { newRow } from '../../runtime/queue/rows';
import type { Phase, WorkloadRow } from '../../runtime/queue/workload';
import { submission } from './submission';

/** A row in this phase; from Ready on it has node-1. */
export function rowIn(phase: Phase, over: Partial<WorkloadRow> = {}): WorkloadRow {
  const granted = phase === 'Ready' || phase === 'Running' || phase === 'Finished';
  const ran = phase === 'Running' || phase === 'Finished';
  return {
    ...newRow(submission('a'), 1),
    jobid: 7,
    phase,
    reason: phase === 'Waiting' ? 'Busy' : null,
    message: phase === 'Waiting' ? 'no room' : null,
    allocation: granted
      ? { jobid: 7, start: 100, end: 160, nodes: [{ name: 'node-1', units: { core: '0', memory: '0' } }] }
      : null,
    result: phase === 'Finished' ? 'Succeeded' : null,
    allocatedAt: granted ? 100 : null,
    releasedAt: granted ? 101 : null,
    startedAt: ran ? 102 : null,
    finishedAt: phase === 'Finished' ? 132 : null,
    ...over,
  };
}
