/** Jobs at the limits of their own fields, and of the settings of the queue. */
import { annotated, INT32, job, LONG_NAME, LONGEST_NAME, type Poison, record, times } from './objects';

const indexed = { completionMode: 'Indexed' };
const far = 'at a time far away';
const onExitCodes = (values: readonly number[]) => ({
  action: 'Ignore',
  onExitCodes: { operator: 'In', values },
});

const COUNTS: readonly Poison[] = [
  job('most parallel pods', {}, { parallelism: INT32, completions: INT32 }),
  job('most parallel pods without completions', {}, { parallelism: INT32 }),
  job('most completions one after the other', {}, { parallelism: 1, completions: INT32 }),
  job('no parallel pods', {}, { parallelism: 0 }),
  job('no completions', {}, { parallelism: 4, completions: 0 }),
  job('negative parallelism', {}, { parallelism: -1 }),
  job('most indexes', {}, { ...indexed, parallelism: 100_000, completions: 100_000 }),
  job('one index too many', {}, { ...indexed, parallelism: 100_001, completions: 100_001 }),
  job(
    'a billion indexes one after the other',
    {},
    { ...indexed, parallelism: 1, completions: 1_000_000_000 },
  ),
  job(
    'a gang of one in a Job of many',
    {},
    { ...indexed, parallelism: 20, completions: 20 },
    annotated({ 'fluxqueue/gang-size': '1' }),
  ),
  job(
    'a gang larger than the Job',
    {},
    { ...indexed, parallelism: 2, completions: 2 },
    annotated({ 'fluxqueue/gang-size': '999999999' }),
  ),
  job('largest backoff limit', {}, { backoffLimit: INT32 }),
  job(
    'backoff limit per index',
    {},
    { ...indexed, parallelism: 2, completions: 2, backoffLimitPerIndex: INT32, maxFailedIndexes: 2 },
  ),
  job(
    'more failed indexes than allowed',
    {},
    { ...indexed, parallelism: 2, completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 },
  ),
  job(
    'longest pod failure policy',
    {},
    {
      podFailurePolicy: {
        rules: times(20, (i) => onExitCodes(times(255, (k) => 1 + ((k + i) % 255)).sort((a, b) => a - b))),
      },
    },
  ),
  job(
    'too long a pod failure policy',
    {},
    { podFailurePolicy: { rules: times(21, () => onExitCodes([1])) } },
  ),
  job(
    'longest success policy',
    {},
    {
      ...indexed,
      parallelism: 20,
      completions: 20,
      successPolicy: {
        rules: times(20, (i) => ({
          succeededIndexes: `0-${i}`,
          succeededCount: 1,
        })),
      },
    },
  ),
  job('largest time to live', {}, { ttlSecondsAfterFinished: INT32 }),
  job('no time to live', {}, { ttlSecondsAfterFinished: 0 }),
  job('managed by another controller', {}, { managedBy: 'example.com/other' }),
  job('a selector of its own', {}, { manualSelector: true, selector: { matchLabels: { other: 'one' } } }),
  job(
    'a replacement policy',
    {},
    { podReplacementPolicy: 'Failed', ...indexed, parallelism: 2, completions: 2 },
  ),
];

const TIMES: readonly Poison[] = [
  job('a deadline of one second', {}, { activeDeadlineSeconds: 1 }),
  job('a deadline of zero', {}, { activeDeadlineSeconds: 0 }),
  job('the longest deadline', {}, { activeDeadlineSeconds: INT32 }),
  job(`a deadline ${far}`, {}, { activeDeadlineSeconds: Number.MAX_SAFE_INTEGER }),
  ...[
    '0',
    '0s',
    '1ms',
    '0.0000001',
    '2147483647',
    '2147483648',
    '596523h',
    '99999999999999999999h',
    '-1',
    '1e9',
    'NaN',
    '1h'.repeat(200),
    ' ',
    '∞',
  ].map((value) =>
    job(
      `walltime ${value.length > 20 ? 'of many parts' : value}`,
      {},
      {},
      { ...annotated({ 'fluxqueue/walltime': value }), generateName: 'walltime-', name: undefined },
    ),
  ),
];

const SETTINGS: readonly Poison[] = [
  ...['2147483647', '-2147483648', '2147483648', '9'.repeat(300), '0x10', '1.5'].map((value) =>
    job(
      `priority ${value.slice(0, 12)}`,
      {},
      {},
      { ...annotated({ 'fluxqueue/priority': value }), generateName: 'priority-', name: undefined },
    ),
  ),
  job(
    'after 100 names',
    {},
    {},
    annotated({ 'fluxqueue/after': times(100, (i) => `afterany:${'n'.repeat(60)}${i}`).join(',') }),
  ),
  job('after 101 names', {}, {}, annotated({ 'fluxqueue/after': times(101, (i) => `n${i}`).join(',') })),
  job('after itself', {}, {}, annotated({ 'fluxqueue/after': 'after-itself' })),
  job('after a name of 250 kB', {}, {}, annotated({ 'fluxqueue/after': 'n'.repeat(250_000) })),
  job('a queue that does not exist', {}, {}, annotated({ 'fluxqueue/queue': 'q'.repeat(63) })),
  job('a queue with an odd name', {}, {}, annotated({ 'fluxqueue/queue': '../../etc/passwd' })),
  job('a prototype as a queue', {}, {}, annotated({ 'fluxqueue/queue': '__proto__' })),
  job('exclusive and parallel', {}, { parallelism: 10_000 }, annotated({ 'fluxqueue/exclusive': 'true' })),
  job('held', {}, {}, annotated({ 'fluxqueue/hold': 'true' })),
  job(
    'all settings at once',
    {},
    {},
    annotated({
      'fluxqueue/hold': 'false',
      'fluxqueue/preemptible': 'true',
      'fluxqueue/exclusive': 'true',
      'fluxqueue/walltime': '1s',
    }),
  ),
  job(
    'forged grant',
    {},
    {},
    annotated({ 'fluxqueue/jobid': '1', 'fluxqueue/assignment': 'node-[0-99999999]' }),
  ),
];

const METADATA: readonly Poison[] = [
  job('name of 63', {}, {}, { name: LONG_NAME }),
  job('name of 253', {}, {}, { name: LONGEST_NAME }),
  job('name with dots', {}, {}, { name: 'a.b.c.d' }),
  job('generated name', {}, {}, { name: undefined, generateName: 'g'.repeat(58) }),
  job('largest annotations', {}, {}, annotated({ huge: 'x'.repeat(255_000) })),
  job('most annotations', {}, {}, annotated(record(5_000, (i) => [`example.com/a${i}`, 'v'.repeat(20)]))),
  job('most labels', {}, {}, { labels: record(5_000, (i) => [`example.com/l${i}`, 'v'.repeat(63)]) }),
  job(
    'odd unicode',
    {},
    {},
    annotated({ odd: '\u0000\ud800 \u202e\u200b\ufeff\u{10ffff} 𝕱 ﷽ Ω≈ç√∫˜µ \\u0000 \'"; DROP TABLE' }),
  ),
  job(
    'owned by nothing',
    {},
    {},
    {
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'gone',
          uid: '00000000-0000-0000-0000-000000000000',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
  ),
  job(
    'owned by itself',
    {},
    {},
    { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'owned-by-itself', uid: 'x' }] },
  ),
  job('finalizers of others', {}, {}, { finalizers: ['example.com/never', 'foregroundDeletion'] }),
  job('most managed fields', {}, {}, { managedFields: [] }),
  job('one megabyte', {
    containers: [{ name: 'main', image: 'none', command: ['sh', '-c', 'x'.repeat(1_000_000)] }],
  }),
  job('too large for etcd', {
    containers: [{ name: 'main', image: 'none', command: ['x'.repeat(1_600_000)] }],
  }),
  {
    ...job('a status by its user'),
    status: {
      startTime: '9999-12-31T23:59:59Z',
      completedIndexes: '0-2147483646',
      succeeded: INT32,
      active: -1,
      uncountedTerminatedPods: { succeeded: times(500, (i) => `uid-${i}`) },
      conditions: times(1_000, (i) => ({ type: `Odd${i}`, status: 'True', message: 'm'.repeat(100) })),
    },
  },
  {
    ...job('a status far in the future'),
    status: {
      startTime: '9999-12-31T23:59:59Z',
      conditions: [{ type: 'Suspended', status: 'True', lastTransitionTime: '9999-12-31T23:59:59Z' }],
    },
  },
];

export const JOBS: readonly Poison[] = [...COUNTS, ...TIMES, ...SETTINGS, ...METADATA];
