import { requireHealthy, tableLines } from '../../../runtime/cli/doctor/report';

const FINDINGS = [
  { check: 'leader', level: 'ok', message: 'a leads' },
  { check: 'admission', level: 'warning', message: 'b\u001b[2J', remedy: 'do\nc' },
] as const;

test('each finding is a line, and its remedy the next one', () => {
  expect(tableLines(FINDINGS)).toEqual([
    'RESULT   CHECK      FINDING',
    'ok       leader     a leads',
    'warning  admission  b [2J',
    '         -> do c',
  ]);
});

test('only an error fails the command', () => {
  expect(() => requireHealthy(FINDINGS)).not.toThrow();
  const broken = [...FINDINGS, { check: 'pods', level: 'error', message: 'd', remedy: 'e' } as const];
  expect(() => requireHealthy(broken)).toThrow(/^FLUXQ_UNHEALTHY: the stack has 1 error and 1 warning;/);
});
