/** A row as SUBMIT inserts it, for those who plan without a database: the simulator and tests of what is pure. */
import type { Submission, WorkloadRow } from './types';

/** @param seq order of arrival, from 1; also its job id */
export function newRow(submission: Submission, seq: number): WorkloadRow {
  return {
    ...submission,
    seq,
    jobid: seq,
    phase: 'Waiting',
    reason: submission.held ? 'Held' : 'Submitted',
    message: null,
    allocation: null,
    estimatedStart: null,
    result: null,
    requeues: 0,
    notBefore: null,
    recall: null,
    preemptions: 0,
    allocatedAt: null,
    releasedAt: null,
    startedAt: null,
    finishedAt: null,
  };
}
