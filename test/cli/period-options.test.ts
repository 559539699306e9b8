import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import { periodOf, withPeriod } from '../../runtime/cli/period-options';

test('a period is by default that of the month in UTC until now', () => {
  expect(periodOf({}, new Date('2026-11-30T23:59:59-05:00'))).toEqual({
    from: '2026-12-01T00:00:00.000Z',
    until: '2026-12-01T04:59:59.000Z',
  });
});

test('a period that ends before it begins is refused', () => {
  expect(() => periodOf({ from: '2026-11-02T00:00:00Z' }, new Date('2026-11-01T00:00:00Z'))).toThrow(
    /^FLUXQ_PERIOD: --from: is not before --until 2026-11-01T00:00:00.000Z/,
  );
});

test.each([
  ['2026-02-31', undefined],
  ['2026-11-31T10:00:00Z', undefined],
  ['2026-13-01', undefined],
  ['yesterday', undefined],
  ['2026-11-01 10:00 PM', undefined],
  ['2026-11-01 10:00', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00.5', '2026-11-01T10:00:00.500Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-11-01T23:00:00-05:00', '2026-11-02T04:00:00.000Z'],
])('--from %s', (text, expected) => {
  const command = withPeriod(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const parse = () => command.parse(['--from', text], { from: 'user' }).opts<{ from: string }>().from;
  if (expected === undefined) expect(parse).toThrow('write 2026-11-01 or 2026-11-01T12:00:00Z.');
  else expect(parse()).toBe(expected);
});

test('a time without a zone is in UTC, wherever the command runs', () => {
  const file = JSON.stringify(join(__dirname, '../../runtime/cli/period-options.ts'));
  const script = `require('tsx/cjs');
    const { Command } = require('commander');
    const command = require(${file}).withPeriod(new Command());
    console.log(command.parse(['--from', '2026-11-01T10:00:00'], { from: 'user' }).opts().from);`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    cwd: join(__dirname, '../..'),
    env: { ...process.env, TZ: 'America/New_York' },
  });
  expect(stdout.toString()).toBe('2026-11-01T10:00:00.000Z\n');
});
