/** What is read of Jobs in protobuf, as ./pod-messages for pods: the numbers are those of k8s.io/api/batch/v1. */
import { OBJECT_META, POD_SPEC } from './pod-messages';
import { message } from './protobuf';

const POD_TEMPLATE = message({
  1: ['metadata', 'message', OBJECT_META],
  2: ['spec', 'message', POD_SPEC],
});

const JOB_SPEC = message({
  1: ['parallelism', 'number'],
  2: ['completions', 'number'],
  3: ['activeDeadlineSeconds', 'number'],
  5: ['manualSelector', 'flag'],
  6: ['template', 'message', POD_TEMPLATE],
  9: ['completionMode', 'text'],
  10: ['suspend', 'flag'],
  12: ['backoffLimitPerIndex', 'number'],
  14: ['podReplacementPolicy', 'text?'],
});

const CONDITION = message({
  1: ['type', 'text'],
  2: ['status', 'text'],
  4: ['lastTransitionTime', 'time'],
  5: ['reason', 'text?'],
  6: ['message', 'text?'],
});

const JOB_STATUS = message({
  1: ['conditions', 'messages', CONDITION],
  2: ['startTime', 'time'],
  4: ['active', 'number?'],
  5: ['succeeded', 'number?'],
  7: ['completedIndexes', 'text?'],
  10: ['failedIndexes', 'text'],
  11: ['terminating', 'number'],
});

export const JOB = message({
  1: ['metadata', 'message', OBJECT_META],
  2: ['spec', 'message', JOB_SPEC],
  3: ['status', 'message', JOB_STATUS],
});
