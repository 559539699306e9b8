/**
 * Prints the ten slowest suites at the end of a run. With RECORD_DURATIONS=1, which `npm run -s durations` sets, it also writes
 * durations.json, by which the sequencer sorts.
 */
const { writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const SHOWN = 10;

module.exports = class Slowest {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, { testResults }) {
    const suites = testResults
      .filter(({ skipped }) => !skipped)
      .map(({ testFilePath, perfStats: { start, end } }) => ({
        suite: relative(this.rootDir, testFilePath),
        seconds: Math.round((end - start) / 1000),
      }))
      .sort((a, b) => b.seconds - a.seconds || a.suite.localeCompare(b.suite));
    if (suites.length > SHOWN) {
      const lines = suites
        .slice(0, SHOWN)
        .map(({ suite, seconds }) => `${String(seconds).padStart(5)} s  ${suite}`);
      process.stderr.write(`The slowest suites:\n${lines.join('\n')}\n`);
    }
    if (process.env.RECORD_DURATIONS !== '1') return;
    const recorded = suites
      .filter(({ seconds }) => seconds > 1)
      .map(({ suite, seconds }) => [suite, seconds]);
    const file = join(this.rootDir, 'test', 'jest', 'durations.json');
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(recorded), null, 2)}\n`);
  }
};
