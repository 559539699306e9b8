import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { newRow } from '../../runtime/queue/rows';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { Resubmission } from '../../runtime/shared/signals';
import { concerns } from '../../runtime/workloads/resubmission';
import { submission } from '../queue/submission';

const affinity = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Gt', values: ['3'] }] }],
    },
  },
});
const rowWith = (pod: object, over: Partial<WorkloadRow> = {}): WorkloadRow => {
  const jobspec = jobspecOf({ pod: { containers: [], ...pod }, pods: 1, walltime: 60 });
  return { ...newRow(submission('a', { jobspec }), 1), ...over };
};
const PLAIN = rowWith({});
const BY_RACK = rowWith({ affinity: affinity('rack') });
const { attributes, ...rest } = PLAIN.jobspec;
const OLD = { ...PLAIN, jobspec: { ...rest, attributes: { system: attributes.system } } };
const joined: Resubmission = { labels: new Set(['kubernetes.io/hostname', 'rack']) };

test.each<[string, Resubmission, WorkloadRow, boolean]>([
  ['everything may have changed', {}, PLAIN, true],
  ['it does not wait', {}, { ...PLAIN, phase: 'Running' }, false],
  ['its namespace changed', { namespaces: new Set([PLAIN.namespace]) }, PLAIN, true],
  ['another namespace changed', { namespaces: new Set(['other']) }, PLAIN, false],
  ['a node joins, and it looks at no label', joined, PLAIN, false],
  ['a node joins with a label that it looks at', joined, BY_RACK, true],
  ['a label changes that it does not look at', { labels: new Set(['zone']) }, BY_RACK, false],
  ['an earlier release made its jobspec', joined, OLD, true],
])('tells whether a workload has to be submitted again when %s', (_, resubmission, row, expected) => {
  expect(concerns(resubmission, row)).toBe(expected);
});
