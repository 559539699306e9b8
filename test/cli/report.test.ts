import {
  accountingLines,
  accountingQuery,
  historyLines,
  startOfMonth,
  workloadName,
} from '../../runtime/cli/report';

const entry = {
  at: 1_800_000_000.25,
  uid: 'u1',
  kind: 'Job',
  actor: 'ada',
  event: 'Submitted',
  why: 'was admitted',
  detail: {},
};

test('formats a history as one line per entry, with the uid if several workloads had the name', () => {
  const nameless = { ...entry, at: 1_800_000_060, actor: '', event: 'Finished', why: '' };
  expect(historyLines([entry, nameless])).toEqual([
    '2027-01-15T08:00:00.250Z  Submitted  by ada  was admitted',
    '2027-01-15T08:01:00.000Z  Finished  by unknown',
  ]);
  expect(historyLines([entry, { ...entry, uid: 'u2', kind: 'Pod' }])).toEqual([
    '2027-01-15T08:00:00.250Z  Job u1  Submitted  by ada  was admitted',
    '2027-01-15T08:00:00.250Z  Pod u2  Submitted  by ada  was admitted',
  ]);
  expect(historyLines([])).toEqual([]);
});

test('formats accounting as a table with a header', () => {
  const hours = { jobs: 3, pods: 5, cpuHours: 1234.567, memoryGiBHours: 0, gpuHours: 1 };
  expect(
    accountingLines([
      { queue: 'default', user: 'ada', ...hours },
      { queue: 'lab/gpu', user: 'bob', ...hours },
    ]),
  ).toEqual([
    'QUEUE    USER  JOBS  PODS  CPU-HOURS  GIB-HOURS  GPU-HOURS',
    'default  ada   3     5     1234.57    0.00       1.00',
    'lab/gpu  bob   3     5     1234.57    0.00       1.00',
  ]);
  expect(accountingLines([hours])).toHaveLength(2);
  expect(accountingLines([])).toEqual(['JOBS  PODS  CPU-HOURS  GIB-HOURS  GPU-HOURS']);
});

test('parses the period and the keys, and refuses invalid ones', () => {
  const given = { from: '2026-11-01', until: '2026-11-02T12:00:00Z', by: 'user,queue' };
  expect(accountingQuery(given)).toEqual({
    from: 1_793_491_200,
    until: 1_793_620_800,
    by: ['queue', 'user'],
  });
  expect(accountingQuery({ ...given, by: '' }).by).toEqual([]);
  expect(() => accountingQuery({ ...given, by: 'user,team' })).toThrow(
    'FLUXQ_CONFIG_INVALID: --by: is not a known key (got "team")',
  );
  expect(() => accountingQuery({ ...given, from: 'soon' })).toThrow(
    'FLUXQ_CONFIG_INVALID: --from: is not a date (got "soon")',
  );
});

test('starts a month at its first midnight in UTC', () => {
  expect(startOfMonth(new Date('2026-11-30T23:59:59-05:00'))).toBe('2026-12-01T00:00:00.000Z');
});

test('parses namespace/name as the name of a workload', () => {
  expect(workloadName('science/train')).toEqual({ namespace: 'science', name: 'train' });
  for (const wrong of ['train', '/train', 'science/', 'a/b/c', ''])
    expect(() => workloadName(wrong)).toThrow('write namespace/name');
});
