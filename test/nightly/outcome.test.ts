import { readdirSync, readFileSync } from 'node:fs';
import { outcomeOf } from './outcome';
import { DRAWN_PARTS, DRAWN_ROWS, partsOf } from './parts';

describe('a part of a nightly run', () => {
  test('is well with its figures if it ends with 0', () => {
    const ended = { code: 0, stdout: 'text\n{"attacks":3,"succeeded":0}\n', stderr: 'progress\n' };
    expect(outcomeOf(ended)).toEqual({ ok: true, figures: { attacks: 3, succeeded: 0 } });
  });

  test('failed if it ends with 1, with its figures', () => {
    const ended = { code: 1, stdout: '{"succeeded":1}\n', stderr: '' };
    expect(outcomeOf(ended)).toEqual({ ok: false, figures: { succeeded: 1 } });
  });

  test.each([
    ['after a signal', { code: null, stdout: '{"a":1}\n', stderr: '' }],
    ['if it printed nothing', { code: 0, stdout: '', stderr: '' }],
    ['if it was skipped and failed', { code: 1, stdout: '', stderr: 'skipped: no engine\n' }],
  ])('failed %s', (_, ended) => {
    expect(outcomeOf(ended).ok).toBe(false);
  });

  test.each([
    [
      'on stderr',
      { code: 0, stdout: '', stderr: 'x\nskipped: Go is not installed\n' },
      'Go is not installed',
    ],
    ['in JSON', { code: 0, stdout: '{"skipped":"no library"}\n', stderr: '' }, 'no library'],
    [
      'of Jest',
      { code: 0, stdout: '{"numPassedTests":0,"numFailedTests":0,"numPendingTests":7}\n', stderr: '' },
      'none of its 7 tests can run on this machine',
    ],
  ])('says why it does not run: %s', (_, ended, skipped) => {
    expect(outcomeOf(ended)).toEqual({ ok: true, skipped });
  });

  test('has figures although a smaller part of it was skipped', () => {
    const ended = { code: 0, stdout: '{"jobs":9}\n', stderr: 'skipped: the version before\n' };
    expect(outcomeOf(ended)).toEqual({ ok: true, figures: { jobs: 9 } });
  });

  test('is a script of package.json', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const { run } of partsOf(1)) expect(Object.keys(scripts)).toContain(run[0]);
  });

  test('plays the whole of every suite that draws a part each day', () => {
    const drawing = readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .filter((file) => /\bdrawOf\(/.test(readFileSync(`test/${file}`, 'utf8')))
      .map((file) => `test/${file.replace('.test.ts', '')}`)
      .filter((suite) => suite !== 'test/seed' && suite !== 'test/nightly/outcome');
    expect(drawing.sort()).toEqual([...DRAWN_ROWS, ...Object.keys(DRAWN_PARTS)].sort());
    for (const part of Object.values(DRAWN_PARTS)) expect(partsOf(1).map((one) => one.part)).toContain(part);
  });

  test('has other seeds each day', () => {
    const seedsOf = (day: number) => partsOf(day).find(({ part }) => part === 'fuzz')?.run[3];
    expect(Number(seedsOf(8)) - Number(seedsOf(7))).toBe(1000);
  });
});
