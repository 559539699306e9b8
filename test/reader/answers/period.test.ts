import { accountingQuery, periodOf } from '../../../runtime/reader/answers/period';

/** 2026-11-23T09:00:00Z */
const NOW = 1_795_424_400;
const asked = (query: Readonly<Record<string, string>>) => ({ query: new URLSearchParams(query) });

test('reads the period and the keys', () => {
  const query = { from: '2026-11-01', until: '2026-11-02T12:00:00Z', by: 'user,queue' };
  expect(accountingQuery(asked(query), NOW)).toEqual({
    from: 1_793_491_200,
    until: 1_793_620_800,
    by: ['queue', 'user'],
  });
  expect(accountingQuery(asked({ by: '' }), NOW).by).toEqual([]);
});

test('without a period it is the month until now', () => {
  expect(periodOf(asked({}), NOW)).toEqual({ from: 1_793_491_200, until: NOW });
});

test('refuses what it does not know, with a remedy', () => {
  expect(() => accountingQuery(asked({ by: 'user,team' }), NOW)).toThrow(
    'FLUXQ_QUERY_INVALID: query by: is not a known key (got "team")',
  );
  // Postgres does not know all dates that JavaScript knows.
  for (const from of ['soon', '-010000-01-01', '+200000-01-01'])
    expect(() => accountingQuery(asked({ from }), NOW)).toThrow(
      `FLUXQ_QUERY_INVALID: query from: is not a date (got "${from}")`,
    );
});
