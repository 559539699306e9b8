import { accountingQuery } from '../../runtime/cli/report';

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
